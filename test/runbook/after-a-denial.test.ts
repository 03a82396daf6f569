/** What becomes of the calls that were due beside one that was refused. */
import { expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import { runbook, workshop } from './workshop.ts'

const playbook = runbook(`
  name: nodes
  inputs: { nodes: array }
  steps:
    - { name: drain, tool: drain, foreach: "{inputs.nodes}", concurrency: 3, input: { node: "{item}" } }
`)
const { policy } = parsePolicy('id: p\nrules: [{ tool: drain, require: args.node != "b", message: not b }]', {
  format: 'yaml',
})

test('an item that was due beside a refused one is not made, and is not blamed for the order', async () => {
  // With and without somebody who is asked before each call, and so lets time pass.
  for (const hooks of [[], [{ name: 'looks', beforeToolCall: async () => undefined }]]) {
    const { effects, make } = workshop()
    const journal = new MemoryJournal()
    const agent = new Agent({
      model: 'none',
      playbook,
      tools: [make('drain')],
      hooks,
      journal,
      policy: { policies: [compilePolicy(policy!)], principal: { id: 'ann', kind: 'local', roles: [] } },
    })
    const { status, reason } = await agent.run('', { inputs: { nodes: ['a', 'b', 'c'] }, run: 'r1' })
    expect({ status, reason }).toEqual({ status: 'failed', reason: expect.stringContaining('not b') })
    const entries = await journal.read('r1')
    const denied = entries.filter(({ type }) => type === 'tool.denied').map(({ data }) => data['code'])
    expect(denied).toEqual(['policy'])
    expect(effects).toEqual(['drain {"node":"a"}'])
  }
})
