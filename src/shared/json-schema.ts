/**
 * Owns: the judgement of values by JSON Schemas (draft 2020-12). Talks to: @cfworker/json-schema.
 * Invariants:
 * 1. Every check ends quickly, whatever the schema and the value: what cannot is refused when the schema is
 *    compiled, or fails the value with a message.
 * 2. A check never throws; a value that cannot be judged does not fit.
 */
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import {
  applicators,
  assertionKeywords,
  checkJsonSchema,
  formats,
  type SchemaProblem,
} from './check-json-schema.ts'
import { describeMisfit } from './describe-misfit.ts'
import { type Json, type JsonObject, isJsonObject } from './json.ts'
import { schemaCost } from './json-schema-cost.ts'
import { LockstepError } from './lockstep-error.ts'
import { patternCost } from './pattern-cost.ts'

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = JsonObject | boolean

/** A JSON Schema made ready for checking. */
export interface CompiledJsonSchema {
  /** What is wrong with the value, one sentence per problem; empty when it fits. Never throws. */
  check(value: unknown): string[]
}

const longestForFormat = 2_000
const longestUniqueList = 2_000
const mostValues = 200_000
/** Up to this size all problems are listed; beyond it, the first. */
const fewValues = 1_000

/** Everything that keeps a schema from being used, with its place in the schema; `strict` also what it would not enforce. */
export function findSchemaProblems(schema: Json, strict = false): SchemaProblem[] {
  const problems = checkJsonSchema(schema, strict)
  if (problems.length > 0) return problems
  const cost = schemaCost(schema)
  if ('refused' in cost) return [{ path: [], message: cost.refused }]
  return cost.deepest < 1 ? [{ path: [], message: 'it multiplies beyond what can be checked' }] : []
}

/** Makes a schema ready for checking. Throws `invalid_value` when it is not a schema or cannot be checked in bounded time. */
export function compileJsonSchema(schema: JsonSchema): CompiledJsonSchema {
  const problems = findSchemaProblems(schema)
  if (problems.length > 0) {
    const list = problems.map(({ path, message }) =>
      path.length === 0 ? message : `${path.join('.')}: ${message}`,
    )
    throw new LockstepError('invalid_value', `Not a usable JSON Schema: ${list.join('; ')}`)
  }
  const cost = schemaCost(schema)
  const deepest = 'deepest' in cost ? cost.deepest : 0
  const guarded = guard(schema) as Schema | boolean
  const thorough = new Validator(guarded, '2020-12', false)
  const brief = new Validator(guarded, '2020-12', true)
  const longestName = longestMemberName(schema)
  return {
    check(value) {
      const size = measure(value, deepest, longestName)
      if (typeof size === 'string') return [size]
      try {
        const result = (size <= fewValues ? thorough : brief).validate(value)
        return result.valid ? [] : describeAll(result.errors)
      } catch (error) {
        return [`cannot be checked: ${(error as Error).message}`]
      }
    },
  }
}

function describeAll(errors: readonly OutputUnit[]): string[] {
  const sentences = new Set<string>()
  for (const error of errors) {
    const sentence = describeMisfit(error, errors)
    if (sentence !== null) sentences.add(sentence)
  }
  return sentences.size === 0 ? ['does not fit the schema'] : [...sentences]
}

/** A copy of the schema in which every keyword that could take long first looks at the length of what it is given. */
function guard(schema: Json): Json {
  if (!isJsonObject(schema)) return schema
  const copy: Record<string, Json> = Object.create(null)
  const guards: Json[] = []
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'pattern') {
      const cost = patternCost(value as string)
      guards.push(unless('maxLength', 'longest' in cost ? cost.longest : 0, { pattern: value }))
    } else if (key === 'format') {
      if (formats.has(value as string)) guards.push(unless('maxLength', longestForFormat, { format: value }))
    } else if (key === 'uniqueItems') {
      if (value === true) guards.push(unless('maxItems', longestUniqueList, { uniqueItems: true }))
    } else if (applicators.has(key)) {
      copy[key] = guardHeld(key, value)
    } else if (assertionKeywords.has(key) && key !== '$id') {
      copy[key] = value
    }
  }
  if (guards.length > 0)
    copy['allOf'] = [...((copy['allOf'] as readonly Json[] | undefined) ?? []), ...guards]
  return copy
}

function guardHeld(key: string, value: Json): Json {
  if (applicators.get(key)!.holds === 'one') return guard(value)
  if (Array.isArray(value)) return value.map(guard)
  const map: Record<string, Json> = Object.create(null)
  for (const [name, item] of Object.entries(value as JsonObject)) map[name] = guard(item)
  return map
}

function unless(limit: 'maxLength' | 'maxItems', most: number, then: JsonObject): Json {
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is the keyword of JSON Schema
  return { if: { [limit]: most }, then, else: { [limit]: most } }
}

/** The longest member name that every pattern for names in the schema can afford. */
function longestMemberName(schema: Json): number {
  if (!isJsonObject(schema)) return Number.POSITIVE_INFINITY
  let longest = Number.POSITIVE_INFINITY
  for (const [key, value] of Object.entries(schema)) {
    const holds = applicators.get(key)?.holds
    if (holds === undefined) continue
    if (key === 'patternProperties') {
      for (const pattern of Object.keys(value as JsonObject)) {
        const cost = patternCost(pattern)
        longest = Math.min(longest, 'longest' in cost ? cost.longest : 0)
      }
    }
    const held: readonly Json[] = holds === 'one' ? [value] : Object.values(value as JsonObject)
    for (const each of held) longest = Math.min(longest, longestMemberName(each))
  }
  return longest
}

/** The number of values inside a value, or the sentence that says why it is not judged at all. */
function measure(value: unknown, deepest: number, longestName: number): number | string {
  let count = 0
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    count += level.length
    if (count > mostValues) return `has more than ${mostValues} values, too many to check`
    const next: unknown[] = []
    for (const each of level) {
      if (each === undefined) return depth === 0 ? 'is missing' : 'holds undefined, which JSON cannot hold'
      if (typeof each !== 'object' || each === null) continue
      if (depth > deepest) return `is nested deeper than ${deepest} levels, too deep to check`
      for (const [name, part] of Object.entries(each)) {
        if (name.length > longestName)
          return `has a member name of more than ${longestName} characters, too long to check`
        if (part !== undefined || Array.isArray(each)) next.push(part)
      }
    }
    level = next
  }
  return count
}
