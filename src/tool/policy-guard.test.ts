import { describe, expect, test } from 'vitest'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { compilePolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import type { RunEvent } from '../run/event.ts'
import { PlaybookEnforcer } from './playbook-enforcer.ts'
import type { PolicySetup } from './policy-guard.ts'
import { tool } from './tool.ts'

const playbook = definePlaybook({
  id: 'refund',
  name: 'Refund',
  steps: [
    { id: 'look', description: 'Look it up.', expectedTools: ['lookup'] },
    { id: 'pay', description: 'Pay it back.', expectedTools: ['refund'], maxToolCalls: 1 },
  ],
  rules: [{ tool: 'refund', require: 'count("refund") < 1' }],
})

const text = `
id: money
approvals:
  - tool: refund
    required_roles: [lead]
    count: 2
    expires_after: 60s
tool_allowlist:
  agent: [lookup, refund]
`

function policyOf(source: string) {
  const { policy, diagnostics } = parsePolicy(source, { format: 'yaml' })
  if (policy === null) throw new Error(diagnostics.map(({ message }) => message).join('; '))
  return compilePolicy(policy)
}

function begin(source = text, setup: Partial<PolicySetup> = {}) {
  const log: string[] = []
  const events: RunEvent[] = []
  let now = 1_000
  const noting = (name: string, risk: 'read' | 'irreversible') =>
    tool({
      name,
      description: name,
      risk,
      execute: (args) => void log.push(`${name} ${JSON.stringify(args)}`),
    })
  const options = {
    tools: [noting('lookup', 'read'), noting('refund', 'irreversible')],
    clock: () => now,
    onEvents: (more: readonly RunEvent[]) => void events.push(...more),
    policy: {
      policies: [policyOf(source)],
      principal: { id: 'ada', kind: 'local', roles: ['agent'] },
      ...setup,
    } as PolicySetup,
  }
  const enforcer = PlaybookEnforcer.fromPlaybook(playbook, options)
  return { enforcer, log, events, options, wait: (ms: number) => (now += ms) }
}

const lead = (person: string) => ({
  person,
  identity: 'local',
  roles: ['lead'],
  answer: 'approve' as const,
  reason: null,
})

describe('a run under policies', () => {
  test('holds a call until enough people with the role have approved it, then makes it once', async () => {
    const { enforcer, log, events } = begin()
    await enforcer.call('lookup', {})
    const held = await enforcer.call('refund', { amount: 30 })
    expect(held).toMatchObject({ status: 'held', enforcement: { code: 'awaiting_approval', allowed: false } })
    expect(log).toEqual(['lookup {}'])
    const id = held.enforcement!.callId!
    const again = () => enforcer.call('refund', { amount: 30 }, undefined, { callId: id })
    expect(await again()).toMatchObject({ status: 'held' })
    expect(enforcer.gate.vote(id, lead('bob'))).toEqual({ comesTo: 'waiting' })
    expect(enforcer.gate.vote(id, lead('bob'))).toEqual({ comesTo: 'waiting' })
    expect(await again()).toMatchObject({ status: 'held' })
    expect(enforcer.gate.vote(id, lead('eve'))).toEqual({ comesTo: 'granted' })
    expect(await again()).toMatchObject({ status: 'succeeded' })
    expect(log).toEqual(['lookup {}', 'refund {"amount":30}'])
    expect(await again()).toMatchObject({ status: 'denied', enforcement: { code: 'duplicate_call' } })
    expect(events.filter(({ type }) => type === 'tool.held')).toHaveLength(1)
    expect(events.find(({ type }) => type === 'tool.held')).toMatchObject({
      policy: { decision: { verdict: 'needs_approval' }, facts: { principal: { id: 'ada' } } },
    })
  })

  test('an approval binds the arguments: another call is another question', async () => {
    const { enforcer, log } = begin()
    await enforcer.call('lookup', {})
    const held = await enforcer.call('refund', { amount: 30 })
    const callId = held.enforcement!.callId!
    for (const person of ['bob', 'eve']) enforcer.gate.vote(callId, lead(person))
    const other = await enforcer.call('refund', { amount: 3000 }, undefined, { callId })
    expect(other).toMatchObject({ status: 'denied', enforcement: { code: 'duplicate_call' } })
    expect(log).toEqual(['lookup {}'])
  })

  test('whoever asked, and whoever lacks the role, cannot approve', async () => {
    const { enforcer } = begin()
    await enforcer.call('lookup', {})
    const { enforcement } = await enforcer.call('refund', { amount: 30 })
    expect(enforcer.gate.vote(enforcement!.callId!, lead('ada'))).toEqual({
      refused: 'whoever asks cannot approve',
    })
    expect(enforcer.gate.vote(enforcement!.callId!, { ...lead('bob'), roles: ['agent'] })).toEqual({
      refused: 'it takes the role lead',
    })
    expect(enforcer.gate.vote(enforcement!.callId!, { ...lead('bob'), identity: 'asserted' })).toMatchObject({
      refused: expect.stringContaining('asserted'),
    })
  })

  test('a denial gives the place back, and so does an approval that comes too late', async () => {
    const { enforcer, wait, log } = begin()
    await enforcer.call('lookup', {})
    const first = await enforcer.call('refund', { amount: 30 })
    const no = { ...lead('bob'), answer: 'deny' as const, reason: 'not ours' }
    expect(enforcer.gate.vote(first.enforcement!.callId!, no)).toEqual({ comesTo: 'denied' })
    const second = await enforcer.call('refund', { amount: 20 })
    expect(second.status).toBe('held')
    wait(60_000)
    expect(enforcer.gate.vote(second.enforcement!.callId!, lead('bob'))).toMatchObject({
      refused: expect.any(String),
    })
    const states = enforcer.gate.state.tickets.map(({ state, error }) => [state, error])
    expect(states.slice(1)).toEqual([
      ['not_executed', 'bob denied it: not ours'],
      ['not_executed', 'its approval came too late'],
    ])
    expect(log).toEqual(['lookup {}'])
  })

  test('everything is judged again when an approved call is made', async () => {
    const { enforcer, options, events, log } = begin()
    await enforcer.call('lookup', {})
    const { enforcement } = await enforcer.call('refund', { amount: 30 })
    for (const person of ['bob', 'eve']) enforcer.gate.vote(enforcement!.callId!, lead(person))
    const stricter = policyOf('id: freeze\nrules:\n  - tool: refund\n    require: "args.amount < 10"\n')
    const later = PlaybookEnforcer.fromEvents(playbook, [...events], {
      ...options,
      policy: { ...options.policy, policies: [stricter] },
    })
    const made = await later.call('refund', { amount: 30 }, undefined, { callId: enforcement!.callId! })
    expect(made).toMatchObject({ status: 'denied', enforcement: { code: 'policy' } })
    expect(later.gate.state.openTickets.size).toBe(0)
    expect(log).toEqual(['lookup {}'])
  })

  test('policy has the last word, also where the playbook only observes', async () => {
    const { enforcer } = begin('id: none\ntool_allowlist:\n  agent: [lookup]\n')
    expect(await enforcer.call('lookup', {})).toMatchObject({ status: 'succeeded' })
    expect(await enforcer.call('refund', {})).toMatchObject({
      status: 'denied',
      enforcement: { code: 'policy' },
    })
    const observing = PlaybookEnforcer.fromPlaybook(playbook, {
      ...begin('id: none\ntool_allowlist:\n  agent: [lookup]\n').options,
      blockViolations: false,
    })
    expect(await observing.call('refund', {})).toMatchObject({
      status: 'denied',
      enforcement: { code: 'policy' },
    })
  })

  test('what the playbook would have denied is held as such where it only observes, and made once it is approved', async () => {
    const { options, log } = begin()
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, { ...options, blockViolations: false })
    const early = await enforcer.call('refund', { amount: 30 })
    expect(early).toMatchObject({ status: 'held', enforcement: { code: 'awaiting_approval' } })
    expect(enforcer.violations.map(({ violationType }) => violationType)).toEqual(['out_of_sequence'])
    const { callId } = early.enforcement!
    for (const person of ['bob', 'eve']) enforcer.gate.vote(callId!, lead(person))
    expect(await enforcer.call('refund', { amount: 30 }, undefined, { callId: callId! })).toMatchObject({
      status: 'succeeded',
    })
    expect(log).toEqual(['refund {"amount":30}'])
  })

  test('a held call cannot be recorded as made', async () => {
    const { enforcer } = begin()
    await enforcer.call('lookup', {})
    const { enforcement } = await enforcer.call('refund', { amount: 30 })
    enforcer.recordToolCall('refund', { callId: enforcement!.callId! })
    expect(enforcer.gate.state.tickets.at(-1)!.state).toBe('held')
    expect(enforcer.isComplete).toBe(false)
  })
})
