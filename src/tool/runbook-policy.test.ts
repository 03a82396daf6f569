import { describe, expect, test } from 'vitest'
import { compilePolicy } from '../policy/compile-policy.ts'
import { policyOf } from '../policy/policy.ts'
import { policySchema } from '../policy/policy-schema.ts'
import { Playbook } from '../playbook/playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import { PlaybookEnforcer } from './playbook-enforcer.ts'
import type { PolicySetup } from './policy-guard.ts'
import { policiesOf } from './runbook-policy.ts'

const playbook = new Playbook({
  id: 'p',
  name: 'P',
  steps: [
    {
      id: 'a',
      description: '',
      tool: 'do',
      requiredRoles: ['OnCall'],
      verify: { tool: 'do', expect: 'true' },
    },
    { id: 'b', description: '', tool: 'do' },
  ],
})
const principal = { id: 'ann', kind: 'local', roles: [] } as const

function policy(source: JsonObject) {
  return compilePolicy(policyOf(policySchema.parse(source), source))
}

describe('the policies of a run', () => {
  test('are those it is given where no step requires approval', () => {
    const plain = new Playbook({ id: 'p', name: 'P', steps: [{ id: 'a', description: '', tool: 'do' }] })
    expect(policiesOf(plain, undefined)).toBeUndefined()
    const given: PolicySetup = { policies: [], principal }
    expect(policiesOf(plain, given)).toBe(given)
  })

  test('hold the runbook’s own besides, once, with a digest of its own', () => {
    const given = { policies: [policy({ id: 'team', version: '1' })], principal }
    const once = policiesOf(playbook, given)!
    expect(once.policies.map(({ ref }) => ref.id)).toEqual(['team', 'runbook.p'])
    expect(policiesOf(playbook, once)).toBe(once)
    expect(policiesOf(playbook, given)!.policies[1]).toBe(once.policies[1])
  })

  test('keep the default where policies are asked and none is given', () => {
    const { policies } = policiesOf(playbook, { policies: [], principal })!
    expect(policies.map(({ ref }) => ref.id)).toEqual(['lockstep.defaults', 'runbook.p'])
  })

  test('say whether whoever asked may approve, how long, and whose identity counts; the runbook does not', () => {
    const given = (source: JsonObject) =>
      policiesOf(playbook, { policies: [policy({ id: 't', version: '1', ...source })], principal })!
        .policies[1]!
    expect(given({}).source).not.toHaveProperty('allow_self_approval')
    const terms = { expires_after: '5m', identity: ['asserted'], count: 3 }
    expect(given({ allow_self_approval: true, approval_defaults: terms }).source).toMatchObject({
      allow_self_approval: true,
      approval_defaults: { expires_after: '5m', identity: ['asserted'] },
    })
  })
})

test('a call that its step requires approval for is held where nothing else asks, and no other is', () => {
  const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
  const held = enforcer.validateToolCall('do', { callId: 'a', arguments: {} })
  expect({ allowed: held.allowed, code: held.code }).toEqual({ allowed: false, code: 'awaiting_approval' })
  const { demands } = enforcer.gate.state.byCallId.get('a')!.approval!
  expect(demands).toMatchObject([{ policy: 'runbook.p', roles: ['OnCall'] }])
  const vote = { person: 'bob', identity: 'local', answer: 'approve', reason: null } as const
  expect(enforcer.gate.vote('a', { ...vote, roles: [] })).toHaveProperty('refused')
  expect(enforcer.gate.vote('a', { ...vote, roles: ['OnCall'] })).toEqual({ comesTo: 'granted' })
  expect(enforcer.validateToolCall('do', { callId: 'a', arguments: {} }).allowed).toBe(true)
})
