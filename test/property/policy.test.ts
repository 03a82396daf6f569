import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CallHistory } from '../../src/policy/call-history.ts'
import { checkPolicy } from '../../src/policy/check-policy.ts'
import { compilePolicy, type CompiledPolicy } from '../../src/policy/compile-policy.ts'
import { decide } from '../../src/policy/decide.ts'
import { describeExplanation, explain } from '../../src/policy/explain.ts'
import type { PolicyFacts, PolicyRequest } from '../../src/policy/policy-request.ts'
import type { Json, JsonObject } from '../../src/shared/json.ts'
import { hostileValue } from './hostile-value.ts'
import { naiveDecision } from './naive-policy.ts'
import { randomPolicy, randomSituation, type RandomPolicy, type RandomSituation } from './random-policy.ts'

const numRuns = 1_200 * Number(process.env['LOCKSTEP_RUNS'] ?? 1)
const severity = { allow: 0, needs_approval: 1, deny: 2 } as const

/** The policy, or null where the product's own checks reject it. */
function accept(policy: RandomPolicy, index: number): CompiledPolicy | null {
  const value = JSON.parse(JSON.stringify({ id: `p${index}`, ...policy })) as Json
  const accepted = checkPolicy(value).policy
  return accepted === null ? null : compilePolicy(accepted)
}

function factsFor(call: RandomSituation, policies: readonly CompiledPolicy[]): [PolicyRequest, PolicyFacts] {
  const args: JsonObject = call.amount === undefined ? {} : { amount: call.amount }
  const request = { tool: call.tool, args, step: call.step, risk: call.risk as never, target: call.target }
  const counter = { calls: call.calls, targets: call.targets, seen: call.seen }
  const spent = { cost_usd: 0, tokens: 0, calls: call.spent ?? 0, minutes: 0 }
  const facts: PolicyFacts = {
    now: Date.UTC(2026, 0, 5, call.hour),
    principal: { id: 'ann', kind: 'local', roles: call.roles },
    mode: 'execute',
    inputs: {},
    context: call.env === undefined ? {} : { env: call.env },
    past: new CallHistory(call.past as never, policies),
    counters: Object.fromEntries(
      policies.flatMap((policy) => policy.counters.map(({ key }) => [key, counter])),
    ),
    spent: call.spent === undefined ? null : { run: spent, day: spent },
    breakGlass: call.glass,
  }
  return [request, facts]
}

describe('policies, judged twice', () => {
  it('come out as in the naive implementation', () => {
    const seen = new Map<string, number>()
    fc.assert(
      fc.property(fc.array(randomPolicy, { minLength: 1, maxLength: 3 }), randomSituation, (given, call) => {
        const policies = given.map(accept)
        fc.pre(!policies.includes(null))
        const compiled = policies as CompiledPolicy[]
        const decision = decide(compiled, ...factsFor(call, compiled))
        const naive = naiveDecision(given, call)
        seen.set(decision.code, (seen.get(decision.code) ?? 0) + 1)
        expect({
          verdict: decision.verdict,
          rule: decision.rule,
          policy: decision.policy?.id ?? null,
          demands: decision.approval.map(
            ({ count, roles, allowSelfApproval }) =>
              `${count} of ${roles.join(',')}${allowSelfApproval ? ' or oneself' : ''}`,
          ),
          lifted: decision.breakGlass?.lifted.map(({ rule }) => rule) ?? [],
        }).toEqual(naive)
      }),
      { numRuns },
    )
    // A generator that never comes to a code tests nothing about it.
    expect([...seen.keys()].sort()).toEqual(
      [
        'policy_allowed',
        'policy_approval',
        'policy_blast_radius',
        'policy_blocked',
        'policy_break_glass',
        'policy_budget',
        'policy_error',
        'policy_freeze',
        'policy_rate_limit',
        'policy_risk',
        'policy_role',
        'policy_rule',
      ].sort(),
    )
  })

  it('are never loosened by one policy more, and their order changes no verdict', () => {
    fc.assert(
      fc.property(fc.array(randomPolicy, { minLength: 2, maxLength: 3 }), randomSituation, (given, call) => {
        const policies = given.map(accept)
        fc.pre(!policies.includes(null))
        const all = policies as CompiledPolicy[]
        const facts = factsFor(call, all)
        const { verdict } = decide(all, ...facts)
        expect(decide(all.toReversed(), ...facts).verdict).toBe(verdict)
        for (const fewer of all.map((each) => all.filter((other) => other !== each))) {
          expect(severity[decide(fewer, ...facts).verdict]).toBeLessThanOrEqual(severity[verdict])
        }
      }),
      { numRuns: numRuns / 3 },
    )
  })

  it('are explained as they are decided, rule by rule, in sentences', () => {
    fc.assert(
      fc.property(fc.array(randomPolicy, { minLength: 1, maxLength: 2 }), randomSituation, (given, call) => {
        const policies = given.map(accept)
        fc.pre(!policies.includes(null))
        const all = policies as CompiledPolicy[]
        const facts = factsFor(call, all)
        const decision = decide(all, ...facts)
        const explanation = explain(all, ...facts)
        expect(explanation.decision).toEqual(decision)
        expect(explanation.rules.map(({ rule }) => rule)).toEqual(
          all.flatMap((each) => each.rules.map(({ name }) => name)),
        )
        const spoke = explanation.rules.filter(({ outcome }) => outcome === 'spoke').map(({ rule }) => rule)
        expect(spoke).toEqual(decision.matched.map(({ rule }) => rule))
        for (const { sentence } of explanation.rules) expect(sentence).toMatch(/^\S+ .*[^.]\.$/)
        for (const line of describeExplanation(explanation))
          expect(line).not.toMatch(/undefined|\[object|: \.$/)
      }),
      { numRuns: numRuns / 3 },
    )
  })

  it('deny, and never throw, whatever request and facts are', () => {
    const calls = fc.tuple(randomPolicy, randomSituation, hostileValue, fc.nat())
    fc.assert(
      fc.property(calls, ([given, call, makeBad, place]) => {
        const bad = makeBad()
        const policy = accept(given, 0)
        fc.pre(policy !== null)
        const [request, facts] = factsFor(call, [policy])
        const keys = [...Object.keys(request), ...Object.keys(facts)]
        const key = keys[place % keys.length]!
        const wrong =
          key in request ? [{ ...request, [key]: bad }, facts] : [request, { ...facts, [key]: bad }]
        const decision = decide([policy], wrong[0] as never, wrong[1] as never)
        expect(['allow', 'needs_approval', 'deny']).toContain(decision.verdict)
        explain([policy], wrong[0] as never, wrong[1] as never)
        expect(decide([policy], bad as never, facts)).toMatchObject({ verdict: 'deny', code: 'policy_error' })
        expect(decide([policy], request, bad as never)).toMatchObject({
          verdict: 'deny',
          code: 'policy_error',
        })
      }),
      { numRuns: numRuns / 3 },
    )
  })
})
