import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import type { PolicySetup } from '../../src/tool/policy-guard.ts'
import { tool } from '../../src/tool/tool.ts'
import { computed, procedure, program, toolCall, variable } from '../program/build-program.ts'

const { policy } = parsePolicy('id: money\napprovals:\n  - { tool: pay, required_roles: [lead] }\n', {
  format: 'yaml',
})
const setup: PolicySetup = {
  policies: [compilePolicy(policy!)],
  principal: { id: 'ada', kind: 'local', roles: [] },
}
const bob = { person: 'bob', identity: 'local', roles: ['lead'], answer: 'approve', reason: null } as const
const typed = definePlaybook({
  id: 'refund',
  name: 'Refund',
  steps: [
    { id: 'pay', description: 'Pay.', expectedTools: ['pay'] },
    { id: 'tell', description: 'Tell.', expectedTools: ['tell'] },
  ],
})
const written = programPlaybook(
  program([
    procedure('Main', [
      {
        kind: 'call',
        target: variable('receipt'),
        value: computed('call_1', [toolCall('pay', { amount: '30' })]),
      },
      { kind: 'call', target: null, value: computed('call_1', [toolCall('tell')]) },
    ]),
  ]),
  'refund',
)

function world(playbook: typeof typed) {
  const log: string[] = []
  const noting = (name: string) =>
    tool({
      name,
      description: name,
      risk: 'write',
      execute: (args) => void log.push(`${name} ${JSON.stringify(args)}`),
    })
  const turns = [{ calls: [{ tool: 'pay', arguments: { amount: 30 } }, { tool: 'tell' }] }, { text: 'Done.' }]
  const journal = new MemoryJournal()
  const tools = [noting('pay'), noting('tell')]
  // A script goes on where the model was; each taking up makes the agent anew, as another process would.
  const agent = (answered = 0) =>
    new Agent({
      model: scriptedModel({ turns: turns.slice(answered) }),
      tools,
      journal,
      playbook,
      policy: setup,
    })
  return { log, agent }
}

describe.each([
  ['an agent', typed],
  ['a program', written],
])('%s under a policy', (_, playbook) => {
  test('stops for the right person, and goes on where it stopped', async () => {
    const { log, agent } = world(playbook)
    const begun = await agent().run('', { run: 'r1' })
    expect(begun).toMatchObject({
      status: 'incomplete',
      reason: expect.stringMatching(/^pay \(.*\) waits for approval$/),
    })
    expect(log).toEqual([])
    const callId = /\((.*)\)/.exec(begun.reason!)![1]!
    expect(await agent(1).resume('r1')).toMatchObject({ status: 'incomplete', reason: begun.reason })
    expect(await agent(1).vote('r1', callId, { ...bob, person: 'ada' })).toEqual({
      refused: 'whoever asks cannot approve',
    })
    expect(await agent(1).vote('r1', callId, bob)).toEqual({ comesTo: 'granted' })
    expect(await agent(1).vote('r1', callId, bob)).toEqual({ refused: 'it waits for no approval' })
    expect(await agent(1).resume('r1')).toMatchObject({ reason: null, status: 'succeeded' })
    expect(log).toEqual(['pay {"amount":30}', 'tell {}'])
  })

  test('does not do what was denied', async () => {
    const { log, agent } = world(playbook)
    const begun = await agent().run('', { run: 'r1' })
    const callId = /\((.*)\)/.exec(begun.reason!)![1]!
    const no = { ...bob, answer: 'deny', reason: 'too much' } as const
    expect(await agent(1).vote('r1', callId, no)).toEqual({ comesTo: 'denied' })
    const result = await agent(1).resume('r1')
    expect(result.status).not.toBe('succeeded')
    expect(log).not.toContain('pay {"amount":30}')
    if (playbook.program !== null) expect(result.reason).toContain('bob denied it: too much')
  })
})
