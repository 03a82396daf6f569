/** The one definition of a file of policy cases. Every `error` completes "`key` …". */
import { z } from 'zod'
import { type Json, type JsonObject, isJsonObject } from '../shared/json.ts'
import { policyCodes } from './policy-code.ts'
import { identityKinds, policyModes, risks } from './policy-request.ts'

const mustBeMapping = 'must be a mapping (a dictionary)'
const text = z.string({ error: 'must be a string' })
const object = z.custom<JsonObject>((value) => isJsonObject(value as Json), { error: mustBeMapping })
const amount = z.number({ error: 'must be a number' }).default(0)
const spent = z
  .strictObject(
    { cost_usd: amount, tokens: amount, calls: amount, minutes: amount },
    { error: mustBeMapping },
  )
  .prefault({})
const texts = z.array(text, { error: 'must be a list of strings' })
const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `must be ${words.join(', ')}` })

const request = {
  tool: text.optional(),
  args: object.nullable().optional(),
  step: text.nullable().optional(),
  risk: oneOf(risks).nullable().optional(),
  target: text.nullable().optional(),
}

const pastCall = z.strictObject(
  {
    tool: text,
    args: object.nullable().default(null),
    outcome: oneOf(['succeeded', 'failed', 'unknown', 'open', 'not_executed']).default('succeeded'),
    result: z.custom<Json>(() => true).optional(),
  },
  { error: mustBeMapping },
)

const counter = z.strictObject(
  { calls: z.int({ error: 'must be a whole number' }).optional(), targets: texts.default([]) },
  { error: mustBeMapping },
)

/** The schema of facts as people write them; null says that something is not known. */
export const factsSchema = z.strictObject(
  {
    at: text.optional(),
    principal: text.optional(),
    identity: oneOf(identityKinds).optional(),
    roles: texts.optional(),
    mode: oneOf(policyModes).optional(),
    inputs: object.optional(),
    context: object.optional(),
    past: z.array(pastCall, { error: 'must be a list of calls' }).nullable().optional(),
    counters: z.record(z.string(), counter, { error: mustBeMapping }).nullable().optional(),
    spent: z.strictObject({ run: spent, day: spent }, { error: mustBeMapping }).nullable().optional(),
    break_glass: text.nullable().optional(),
  },
  { error: mustBeMapping },
)

const requestSchema = z.strictObject(request, { error: mustBeMapping })
const policyReference = z.union([text, object], { error: 'must be the name of a file, or a policy' })
const policies = z.union([policyReference, z.array(policyReference)], {
  error: 'must be the name of a file, a policy, or a list of them',
})

const expectSchema = z.strictObject(
  {
    verdict: oneOf(['allow', 'needs_approval', 'deny']),
    code: oneOf(policyCodes).optional(),
    rule: text.nullable().optional(),
    policy: text.nullable().optional(),
    reason: text.optional(),
    approval: z.array(object, { error: 'must be a list' }).optional(),
    lifted: texts.optional(),
  },
  { error: mustBeMapping },
)

const caseSchema = z.strictObject(
  {
    name: text.min(1, { error: 'must not be empty' }),
    policy: policies.optional(),
    request: requestSchema.default({}),
    facts: factsSchema.default({}),
    expect: expectSchema,
  },
  { error: mustBeMapping },
)

/** The schema of a file of cases. */
export const policyCasesSchema = z.strictObject(
  {
    policy: policies.optional(),
    defaults: z
      .strictObject(
        { request: requestSchema.default({}), facts: factsSchema.default({}) },
        { error: mustBeMapping },
      )
      .default({ request: {}, facts: {} }),
    cases: z.array(caseSchema, { error: 'must be a list of cases' }).min(1, { error: 'must not be empty' }),
  },
  { error: 'must be a mapping (a dictionary) with `cases`' },
)

/** A file of cases with its defaults filled in. */
export type PolicyCasesFile = z.output<typeof policyCasesSchema>
/** Facts as people write them. */
export type FactsFile = z.output<typeof factsSchema>
/** A policy as a case names it: a file, or the policy itself. */
export type PolicyReference = z.output<typeof policyReference>
