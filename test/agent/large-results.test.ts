import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { answering, noting, playbookOf, proposing, saying, step } from './run-agent.ts'

const playbook = playbookOf([step('pay')])

function nested(levels: number): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const results: readonly (readonly [name: string, result: () => unknown])[] = [
  ['10,000,000 characters', () => 'x'.repeat(10_000_000)],
  ['9,999,990 characters', () => 'x'.repeat(9_999_990)],
  ['9,000,000 characters', () => 'x'.repeat(9_000_000)],
  ['100,000 parts', () => Array.from({ length: 99_999 }, () => 1)],
  ['64 levels', () => nested(64)],
]

const errors: readonly (readonly [name: string, message: string])[] = [
  ['12,000,000 characters', 'x'.repeat(12_000_000)],
  ['half of a character', 'lost \ud83d'],
]

describe('the outcome of a call', () => {
  test.each(results)('is written down whatever the tool returned: %s', async (_, result) => {
    const journal = new FileJournal(mkdtempSync(join(tmpdir(), 'large-')))
    const model = answering(proposing('pay'), saying('Done.'))
    const agent = new Agent({ model, tools: [noting([], 'pay', 'irreversible', result)], playbook, journal })
    const { run, status } = await agent.run('go')
    expect(status).toBe('succeeded')
    const settled = (await journal.read(run)).find(({ type }) => type === 'tool.settled')
    expect(settled?.data).toMatchObject({ outcome: 'succeeded' })
    await journal.close()
  })

  test.each(errors)('is written down whatever the tool threw: %s', async (_, message) => {
    const model = answering(proposing('pay'), saying('Done.'))
    const broken = noting([], 'pay', 'irreversible', () => Promise.reject(new Error(message)))
    const { snapshot } = await new Agent({ model, tools: [broken], playbook }).run('go')
    const settled = snapshot.entries.find(({ type }) => type === 'tool.settled')
    expect(settled?.data).toMatchObject({ outcome: 'unknown' })
  })
})
