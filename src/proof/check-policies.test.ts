import { expect, test } from 'vitest'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { compilePolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import type { EventOf } from '../run/event.ts'
import type { JsonObject } from '../shared/json.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { PolicyGuard } from '../tool/policy-guard.ts'
import { askPoliciesAgain } from './check-policies.ts'
import type { Documents } from './documents.ts'

test('A1: a call that is said to undo another, and so to be held to no limit, has to be the one that does', () => {
  const source =
    '{ id: p, budgets: { max_calls_per_day: 0 }, limits: [{ max_calls: 1, per: 1h }], risk: { irreversible: allow } }'
  const policy = compilePolicy(parsePolicy(source, { format: 'yaml' }).policy!)
  const playbook = definePlaybook({
    id: 'p',
    name: 'P',
    steps: [{ id: 'a', description: 'A.', expectedTools: ['a'] }],
  })
  const { state } = PlaybookEnforcer.fromPlaybook(playbook, { clock: () => 1000 }).gate
  const guard = new PolicyGuard({ policies: [policy], principal: { id: 'ada', kind: 'local', roles: [] } })
  const call = { callId: 'x', tool: 'a', args: {} }
  const { record } = guard.judge(state, call, null, 1000)
  const event = { type: 'tool.denied', at: 1000, ...call } as unknown as EventOf<'tool.denied'>
  const again = (given: JsonObject) =>
    askPoliciesAgain(state, event, given, { policy: () => policy } as unknown as Documents)
  expect(again(record)).toMatchObject({ wrong: null, onItsWord: 'what was counted over other runs' })
  const decision = { ...(record['decision'] as JsonObject), verdict: 'allow' }
  const forged = { ...record, decision, request: { ...(record['request'] as JsonObject), undoes: true } }
  expect(again(forged).wrong).toBe('the policies were told that the call undoes another, and it does not')
})
