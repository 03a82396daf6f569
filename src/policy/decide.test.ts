import { describe, expect, it } from 'vitest'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide.ts'
import { PastIndexes } from '../run/past-indexes.ts'
import type { Ticket } from '../run/ticket.ts'
import { parsePolicy } from './parse-policy.ts'
import { remember } from './remember.ts'
import type { PolicyFacts, PolicyRequest } from './policy-request.ts'

const request: PolicyRequest = {
  tool: 'k8s.drain_node',
  args: { node: 'a' },
  step: 'drain',
  risk: 'write',
  target: 'a',
}
const facts: PolicyFacts = {
  now: 0,
  principal: { id: 'ann', kind: 'local', roles: ['SRE'] },
  mode: 'execute',
  inputs: {},
  context: {},
  past: null,
  counters: {},
  spent: null,
  breakGlass: null,
}

function policy(text: string) {
  const parsed = parsePolicy(text, { format: 'yaml' })
  expect(parsed.diagnostics).toEqual([])
  return compilePolicy(parsed.policy!)
}

describe('decide', () => {
  it('asks for approval of what is irreversible where there is no policy (D3)', () => {
    expect(decide([], request, facts)).toMatchObject({
      verdict: 'allow',
      code: 'policy_allowed',
      rule: null,
      policy: null,
    })
    expect(decide([], { ...request, risk: null }, facts)).toMatchObject({
      verdict: 'needs_approval',
      code: 'policy_risk',
      rule: 'risk.irreversible',
      policy: {
        id: 'lockstep.defaults',
        version: '1',
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      },
      approval: [{ roles: [], count: 1, expiresAfterSeconds: 3600, identity: ['local', 'apikey', 'oidc'] }],
    })
  })

  it('says of which policies no rule spoke, also where it said the same of others before', () => {
    const quiet = (id: string) => policy(`id: ${id}\nversion: "1"`)
    const [one, two, three] = [quiet('one'), quiet('two'), quiet('three')]
    const asked = [[one], [one, two], [one, three], [one], [two, one]]
    const decisions = asked.map((policies) => decide(policies, request, facts))
    expect(decisions.map((decision) => decision.policies.map(({ id }) => id))).toEqual([
      ['one'],
      ['one', 'two'],
      ['one', 'three'],
      ['one'],
      ['two', 'one'],
    ])
    for (const decision of decisions)
      expect(decision).toMatchObject({ verdict: 'allow', code: 'policy_allowed', rule: null, matched: [] })
    expect(decide([one], request, facts)).toBe(decide([one], { ...request, args: {} }, facts))
    expect([decisions[0], decisions[0]!.policies, decisions[0]!.policies[0]].every(Object.isFrozen)).toBe(
      true,
    )
  })

  it('names every policy that was asked, and the exact one that decided', () => {
    const one = policy('id: same\nversion: "1"')
    const two = policy('id: same\nversion: "2"\npreconditions: [{ then: block }]')
    const decision = decide([one, two], request, facts)
    expect(decision.policy).toEqual(two.ref)
    expect(decision.policies).toEqual([one.ref, two.ref])
  })

  it('denies with a reason whatever the arguments are (D2)', () => {
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error('no')
        },
      },
    )
    for (const bad of [undefined, null, 1, 'x', [], {}, hostile, () => 1]) {
      expect(decide([], bad as never, facts)).toMatchObject({ verdict: 'deny', code: 'policy_error' })
      expect(decide([], request, bad as never)).toMatchObject({ verdict: 'deny', code: 'policy_error' })
    }
    for (const bad of [undefined, null, 1, [null], [{}], [hostile]]) {
      expect(decide(bad as never, request, facts)).toMatchObject({ verdict: 'deny', code: 'policy_error' })
    }
  })

  it.each<[string, object, object]>([
    ['a tool name that is none', { tool: 'dräin' }, {}],
    ['an unknown risk', { risk: 'harmless' }, {}],
    ['arguments that are a list', { args: [] }, {}],
    ['a target that is no text', { target: 3 }, {}],
    ['a time that is none', {}, { now: Number.NaN }],
    ['nobody', {}, { principal: { id: '', kind: 'local', roles: [] } }],
    ['an identity of an unknown kind', {}, { principal: { id: 'a', kind: 'trust me', roles: [] } }],
    ['roles that are none', {}, { principal: { id: 'a', kind: 'local', roles: [1] } }],
    ['a mode that is not built', {}, { mode: 'shadow' }],
    ['no context', {}, { context: null }],
    ['a reason that is no text', {}, { breakGlass: {} }],
    ['a past without its questions', {}, { past: { tally: () => undefined } }],
  ])('denies %s (D2)', (_, wrongRequest, wrongFacts) => {
    const decision = decide(
      [],
      { ...request, ...wrongRequest } as never,
      { ...facts, ...wrongFacts } as never,
    )
    expect(decision).toMatchObject({ verdict: 'deny', code: 'policy_error', matched: [] })
    expect(decision.reason).toMatch(/^the call cannot be judged: ./)
  })

  it('keeps the answer to one tool from another, however many names are invented', () => {
    const one = policy('id: a\npreconditions: [{ tool: "bad*", then: block }]')
    for (let number = 0; number < 3_000; number++) {
      const tool = `${number % 2 === 0 ? 'bad' : 'good'}${number}`
      expect(decide([one], { ...request, tool }, facts).verdict).toBe(number % 2 === 0 ? 'deny' : 'allow')
    }
  })

  it('asks the past that a run keeps, and denies where it keeps no index for a question', () => {
    const one = policy('id: a\nrules: [{ require: \'count("refund", order=args.order) < 1\' }]')
    const indexes = new PastIndexes(one.questions)
    const shapes = new Set([...one.questions.values()].flatMap((each) => each.map(({ shape }) => shape)))
    const past = { shapes, tally: (shape: string, key: string) => indexes.tally(shape, key) }
    const call = { ...request, tool: 'refund', args: { order: 'A' } }
    expect(decide([one], call, { ...facts, past }).verdict).toBe('allow')
    indexes.admit({ tool: 'refund', args: { order: 'A' } } as unknown as Ticket)
    expect(decide([one], call, { ...facts, past })).toMatchObject({ verdict: 'deny', code: 'policy_rule' })
    expect(decide([one], { ...call, args: { order: 'B' } }, { ...facts, past }).verdict).toBe('allow')
    const forgetful = { shapes: new Set<string>(), tally: () => undefined }
    expect(decide([one], call, { ...facts, past: forgetful })).toMatchObject({
      verdict: 'deny',
      code: 'policy_error',
    })
  })

  it('remembers only so many names that a model invented', () => {
    let computed = 0
    const answer = remember((name) => `${name}${computed++}`, 2)
    expect([answer('a'), answer('a'), answer('b'), answer('a')]).toEqual(['a0', 'a0', 'b1', 'a0'])
    expect([answer('c'), answer('a')]).toEqual(['c2', 'a3'])
  })
})
