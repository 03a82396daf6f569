import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { reading } from '../../api/text-routes.ts'
import { parseProgram } from '../markdown/parse-program.ts'
import { parsePlaybook } from '../parse-playbook.ts'
import { programPlaybook } from '../program-playbook.ts'
import { readBack } from './read-back.ts'

const example = (name: string) => readFileSync(new URL(`../../../examples/${name}`, import.meta.url), 'utf8')
const ofYaml = (text: string) => readBack(parsePlaybook(text, { format: 'yaml' }).playbook!)
const ofMarkdown = (text: string) => {
  const { program, diagnostics } = parseProgram([{ file: 'a.md', text }], {
    tools: [{ name: 'refund', parameters: ['order'], risk: 'irreversible' }],
  })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  return readBack(programPlaybook(program!, 'a'))
}

describe('readBack', () => {
  it('reads a runbook: no model, what is given, what follows what', () => {
    const read = ofYaml(example('runbooks/rollback-release.yaml'))
    expect(reading.parse(read)).toEqual(read)
    expect([read.needsModel, read.conversation]).toEqual([false, false])
    expect(read.flow[0]).toMatchObject({ kind: 'call', after: [], depth: 0 })
    expect(read.flow.slice(1).every(({ after }) => after.length > 0)).toBe(true)
    expect(read.tools.every((tool) => tool.startsWith('practice.'))).toBe(true)
    expect(read.inputs).toMatchObject({ type: 'object', additionalProperties: false })
  })

  it('reads a playbook that a model works on', () => {
    const read = ofYaml(
      'id: a\nname: A\ninputs: { order: string, note: { type: any, default: x } }\nsteps:\n  - { id: one, description: Look., expected_tools: [look] }\n',
    )
    expect(read).toMatchObject({
      needsModel: true,
      tools: ['look'],
      inputs: { properties: { order: { type: 'string' }, note: { default: 'x' } }, required: ['order'] },
      flow: [{ id: 'one', kind: 'act', mark: 'left to the model', required: true }],
    })
    expect(read.inputs['properties']).toHaveProperty('note', { default: 'x' })
  })

  it('reads a program: branches lead on, loops lead back to nobody, and it talks', () => {
    const read = ofMarkdown(
      [
        '# Desk',
        '',
        '## Main',
        '',
        '### Triggers',
        '- When the program starts',
        '',
        '### Steps',
        '- Ask the user for their $order',
        '- If $order is "x"',
        '  - refund(order=$order)',
        '- Otherwise',
        '  - Say "No"',
        '- While $order is "y"',
        '  - Ask the user for their $order',
        '- End program',
        '',
      ].join('\n'),
    )
    expect(reading.parse(read)).toEqual(read)
    expect(read.conversation).toBe(true)
    expect(read.tools).toEqual(['refund'])
    const at = (text: string) => read.flow.find(({ name }) => name.startsWith(text))!
    const [ask, branch, pay, no, loop] = ['Ask', 'If', 'refund', 'Say', 'While'].map(at)
    expect(branch!.after).toEqual([ask!.id])
    expect([pay!.after, pay!.depth]).toEqual([[branch!.id], 1])
    expect(no!.after).toEqual([branch!.id])
    expect(loop!.after.toSorted()).toEqual([pay!.id, no!.id].toSorted())
    expect(
      read.flow.every(({ after }, index) =>
        after.every((id) => read.flow.findIndex((step) => step.id === id) < index),
      ),
    ).toBe(true)
  })
})
