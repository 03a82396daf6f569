/* oxlint-disable unicorn/no-thenable -- the word of policy files, never a function */
/** Random policies, requests and facts, small enough that everything meets everything. */
import fc from 'fast-check'
import type { PastCall } from '../../src/policy/call-history.ts'
import type { Json } from '../../src/shared/json.ts'

/** What a condition sees, in the words of this test. */
export interface View {
  readonly amount: Json | undefined
  readonly env: Json | undefined
  readonly roles: readonly string[]
  readonly past: readonly PastCall[]
}

/** Conditions as texts, each with a closure that means the same; a throw stands for a value that is missing. */
export const conditions: Readonly<Record<string, (view: View) => boolean>> = {
  'args.amount <= 10': ({ amount }) => Number(present(amount)) <= 10,
  'context.env == "prod"': ({ env }) => present(env) === 'prod',
  'default(context.env, "prod") == "prod"': ({ env }) => (env ?? 'prod') === 'prod',
  '"SRE" in roles': ({ roles }) => roles.includes('SRE'),
  'succeeded("look", amount=args.amount)': ({ past, amount }) => {
    const wanted = present(amount)
    return past.some(
      ({ tool, args, outcome }) => tool === 'look' && args?.['amount'] === wanted && outcome === 'succeeded',
    )
  },
  'count("look") < 2': ({ past }) =>
    past.filter(({ tool, outcome }) => tool === 'look' && !['failed', 'not_executed'].includes(outcome))
      .length < 2,
}

function present(value: Json | undefined): Json {
  if (value === undefined) throw new Error('missing')
  return value
}

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 })
const pattern = fc.constantFrom('a.one', 'a.two', 'b.one', 'a.*', '*.one', '*', 'a*e')
const roleName = fc.constantFrom('SRE', 'OnCall', 'Lead')
const scope = {
  tool: maybe(fc.oneof(pattern, fc.array(pattern, { minLength: 1, maxLength: 2 }))),
  step: maybe(fc.constantFrom('s', 't')),
  when: maybe(fc.constantFrom(...Object.keys(conditions))),
}
const strict = fc.constantFrom('block', 'require_approval')
const effect = fc.constantFrom('allow', 'block', 'require_approval')
const terms = {
  required_roles: maybe(fc.uniqueArray(roleName, { minLength: 1, maxLength: 2 })),
  count: maybe(fc.integer({ min: 1, max: 3 })),
}
const list = <Item>(item: fc.Arbitrary<Item>) => fc.array(item, { maxLength: 3 })
const risk = fc.constantFrom('read', 'write', 'irreversible')

/** A policy as a file would say it. */
export const randomPolicy = fc.record({
  tool_allowlist: maybe(
    fc.dictionary(roleName, fc.array(pattern, { minLength: 1, maxLength: 2 }), { minKeys: 1 }),
  ),
  budgets: fc.record({ max_calls_per_run: maybe(fc.integer({ min: 0, max: 3 })) }),
  rules: list(fc.record({ ...scope, require: fc.constantFrom(...Object.keys(conditions)) })),
  preconditions: list(fc.record({ ...scope, then: effect })),
  freeze: list(
    fc.record({
      ...scope,
      risk: maybe(fc.uniqueArray(risk, { minLength: 1 })),
      from: fc.constant('2026-01-05T00:00:00Z'),
      to: fc.constantFrom('2026-01-05T12:00:00Z', '2026-01-06T00:00:00Z'),
      then: maybe(strict),
    }),
  ),
  limits: list(
    fc.record({
      ...scope,
      max_calls: maybe(fc.integer({ min: 1, max: 2 })),
      max_targets: fc.integer({ min: 1, max: 2 }),
      per: fc.constant('1h'),
      then: maybe(strict),
    }),
  ),
  approvals: list(fc.record({ ...scope, ...terms })),
  approval_defaults: fc.record(terms),
  allow_self_approval: fc.boolean(),
  risk: fc.record({ read: maybe(effect), write: maybe(effect), irreversible: maybe(effect) }),
  break_glass: maybe(
    fc.record({
      roles: fc.uniqueArray(roleName, { minLength: 1 }),
      tool: pattern,
      lifts: maybe(
        fc.uniqueArray(fc.constantFrom('approval', 'freeze', 'limits', 'preconditions'), { minLength: 1 }),
      ),
    }),
  ),
})

export type RandomPolicy = typeof randomPolicy extends fc.Arbitrary<infer Value> ? Value : never

/** A call and what is known about it. */
export const randomSituation = fc.record({
  tool: fc.constantFrom('a.one', 'a.two', 'b.one', 'c'),
  amount: maybe(fc.constantFrom(5, 50)),
  step: fc.constantFrom(null, 's', 't'),
  risk: maybe(risk),
  target: fc.constantFrom(null, 'x', 'y'),
  hour: fc.integer({ min: 0, max: 30 }),
  roles: fc.uniqueArray(roleName),
  env: maybe(fc.constantFrom('prod', 'dev')),
  past: fc.array(
    fc.record({
      tool: fc.constantFrom('look', 'a.one'),
      args: fc.constantFrom(null, { amount: 5 }, { amount: 50 }),
      outcome: fc.constantFrom('succeeded', 'failed', 'unknown', 'open', 'not_executed'),
    }),
    { maxLength: 3 },
  ),
  calls: fc.integer({ min: 0, max: 3 }),
  targets: fc.integer({ min: 0, max: 3 }),
  seen: fc.boolean(),
  spent: maybe(fc.integer({ min: 0, max: 4 })),
  glass: fc.constantFrom(null, '', ' ', 'fire'),
})

export type RandomSituation = typeof randomSituation extends fc.Arbitrary<infer Value> ? Value : never
