import { describe, expect, it } from 'vitest'
import { ownTime } from '../shared/own-time.suite.ts'
import { readBack } from './explain/read-back.ts'
import { readText } from './read-text.ts'

const tools = [{ name: 'refund', input: { type: 'object', properties: { id: { type: 'string' } } } }] as const
const main = '## Main\nA.\n\n### Triggers\n- At the beginning\n\n### Steps\n'
const many = (count: number, row: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => row(index)).join('')

/** What reading a text takes of this thread's own time. */
function timeOf(text: string, format: 'yaml' | 'markdown'): number {
  const began = ownTime()
  const { playbook, diagnostics } = readText(text, format, tools)
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  readBack(playbook!)
  return ownTime() - began
}

describe('reading a long playbook', () => {
  it.each<[string, 'yaml' | 'markdown', number, (count: number) => string]>([
    [
      'steps of a runbook',
      'yaml',
      4000,
      (count) => `name: A\nsteps:\n${many(count, (index) => `- { name: s${index}, tool: refund }\n`)}`,
    ],
    ['bullets', 'markdown', 5000, (count) => main + many(count, () => '- Tell the customer hi\n')],
    [
      'parameters',
      'markdown',
      12_000,
      (count) => `## Main(${many(count, (index) => `$p${index}, `)}$z)\nA.\n\n### Steps\n- Say "x"\n`,
    ],
    [
      'rules of a tool that is called',
      'markdown',
      4000,
      (count) =>
        `${main}${many(count, (index) => `- refund("${index}")\n`)}\n### Notes\n${many(count, () => '- Only call refund() after refund()\n')}`,
    ],
    [
      'playbooks around a call that is made',
      'markdown',
      1500,
      (count) =>
        `${main}${many(count, (index) => `- refund("${index}")\n`)}\n${many(count, (index) => `## B${index}\nA.\n\n### Triggers\n- Before calling refund\n\n### Steps\n- Say "x"\n\n`)}`,
    ],
  ])('takes about four times the time for four times the %s', (_, format, count, write) => {
    const [few, all] = [write(count / 2), write(2 * count)]
    let [least, most] = [Infinity, Infinity]
    // The least of several: what is collected or compiled meanwhile is no part of it. A square would come near sixteen.
    for (let round = 0; round < 3 || (most > 9 * least && round < 8); round++) {
      least = Math.min(least, timeOf(few, format))
      most = Math.min(most, timeOf(all, format))
    }
    expect(most / least).toBeLessThan(9)
  })

  it('reads a condition that names one answer a thousand times in good time', () => {
    const text = `${main}- Ask user for $a\n- If $a${' and $a'.repeat(1300)}\n  - Say "x"\n`
    expect(timeOf(text, 'markdown')).toBeLessThan(1000)
  })
})
