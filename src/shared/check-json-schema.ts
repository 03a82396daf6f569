import { type Json, type JsonObject, isJsonObject } from './json.ts'
import { nearestName } from './nearest-name.ts'
import { patternCost } from './pattern-cost.ts'

/** What is wrong with a schema, and where in it. */
export type SchemaProblem = { readonly path: readonly (string | number)[]; readonly message: string }

/** Where a keyword holds further schemas: one, a list, or a map of them; and whether they look at the same value. */
export type Applicator = { readonly holds: 'one' | 'list' | 'map'; readonly inPlace: boolean }

/** The keywords that hold schemas. */
export const applicators: ReadonlyMap<string, Applicator> = new Map<string, Applicator>([
  ...['allOf', 'anyOf', 'oneOf'].map((key) => [key, { holds: 'list', inPlace: true }] as const),
  ...['not', 'if', 'then', 'else'].map((key) => [key, { holds: 'one', inPlace: true }] as const),
  ['dependentSchemas', { holds: 'map', inPlace: true }],
  ['prefixItems', { holds: 'list', inPlace: false }],
  ...[
    'items',
    'contains',
    'additionalProperties',
    'propertyNames',
    'unevaluatedItems',
    'unevaluatedProperties',
  ].map((key) => [key, { holds: 'one', inPlace: false }] as const),
  ...['properties', 'patternProperties', '$defs', 'definitions'].map(
    (key) => [key, { holds: 'map', inPlace: false }] as const,
  ),
])

/** The formats that are checked; others are comments to the reader, as JSON Schema has it. */
export const formats: ReadonlySet<string> = new Set(
  'date time date-time duration uri uri-reference uri-template email hostname ipv4 ipv6 uuid json-pointer relative-json-pointer regex'.split(
    ' ',
  ),
)

type Test = (value: Json) => string | null

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']
const isCount = (value: Json) => typeof value === 'number' && Number.isInteger(value) && value >= 0
const texts: Test = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? null : 'must be a list of strings'
const number: Test = (value) => (typeof value === 'number' ? null : 'must be a number')
const count: Test = (value) => (isCount(value) ? null : 'must be a whole number, 0 or more')
const text: Test = (value) => (typeof value === 'string' ? null : 'must be a string')
const flag: Test = (value) => (typeof value === 'boolean' ? null : 'must be true or false')
const any: Test = () => null
const unsupported: Test = () => 'is not supported'

const assertions: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['type', checkType],
  [
    'enum',
    (value) => (Array.isArray(value) && value.length > 0 ? null : 'must be a list with at least one value'),
  ],
  ['required', texts],
  [
    'dependentRequired',
    (value) => (isJsonObject(value) ? firstOf(Object.values(value).map(texts)) : 'must be a mapping'),
  ],
  ['multipleOf', (value) => (typeof value === 'number' && value > 0 ? null : 'must be a number above 0')],
  ['pattern', checkPattern],
  ['format', checkFormat],
  ['uniqueItems', flag],
  [
    '$ref',
    (value) =>
      typeof value === 'string' && value.startsWith('#') ? null : 'must point into this schema: "#/..."',
  ],
  ['$id', any],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((key) => [key, number] as const),
  ...[
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
    'minContains',
    'maxContains',
  ].map((key) => [key, count] as const),
  ...['$anchor', '$schema', '$comment', 'title', 'description', 'contentEncoding', 'contentMediaType'].map(
    (key) => [key, text] as const,
  ),
  ...['deprecated', 'readOnly', 'writeOnly'].map((key) => [key, flag] as const),
  ...['const', 'default', 'examples'].map((key) => [key, any] as const),
  ...[
    '$dynamicRef',
    '$dynamicAnchor',
    '$recursiveRef',
    '$recursiveAnchor',
    '$vocabulary',
    'contentSchema',
  ].map((key) => [key, unsupported] as const),
  ...['dependencies', 'additionalItems'].map((key) => [key, unsupported] as const),
])

/** The keywords that say something themselves, without holding schemas. */
export const assertionKeywords: ReadonlySet<string> = new Set(assertions.keys())

const keywords: readonly string[] = [...assertions.keys(), ...applicators.keys()]
const maxDepth = 64

/**
 * Everything that is wrong with the form of a schema; where its references lead is judged when it is compiled. `strict` takes no
 * word that would not be enforced, but those that begin with `x-`: a schema of one's own should mean all it says, a stranger's
 * may say more.
 */
export function checkJsonSchema(schema: Json, strict = false): SchemaProblem[] {
  const problems: SchemaProblem[] = []
  visit(schema, [])
  return problems

  function visit(schema: Json, path: readonly (string | number)[]): void {
    const problem = (message: string, ...at: (string | number)[]) =>
      problems.push({ path: [...path, ...at], message })
    if (typeof schema === 'boolean') return
    if (!isJsonObject(schema)) {
      problem('a schema must be a mapping, true or false')
      return
    }
    if (path.length > maxDepth) {
      problem(`schemas are nested deeper than ${maxDepth / 2} levels`)
      return
    }
    for (const [key, value] of Object.entries(schema)) {
      const test = assertions.get(key)
      const applicator = applicators.get(key)
      if (test !== undefined) {
        const message =
          key === '$id' && path.length > 0 ? 'is only supported at the top of a schema' : test(value)
        if (message !== null) problem(`\`${key}\` ${message}`, key)
        else if (strict && key === 'format' && !formats.has(value as string)) {
          problem(
            `the format \`${String(value)}\` is not checked; there are: ${[...formats].join(', ')}`,
            key,
          )
        }
      } else if (applicator !== undefined) {
        visitHeld(key, applicator, value)
      } else {
        const nearest = key.startsWith('x-') ? null : nearestName(key, keywords)
        if (nearest !== null) problem(`unknown keyword \`${key}\`, did you mean \`${nearest}\`?`, key)
        else if (strict && !key.startsWith('x-')) {
          problem(
            `unknown keyword \`${key}\`: members of the value belong under \`properties\`, words of your own begin with \`x-\``,
            key,
          )
        }
      }
    }

    function visitHeld(key: string, { holds }: Applicator, value: Json): void {
      if (holds === 'one') {
        if (Array.isArray(value))
          problem(
            `\`${key}\` must be one schema${key === 'items' ? '; for a list of them say `prefixItems`' : ''}`,
            key,
          )
        else visit(value, [...path, key])
      } else if (holds === 'list') {
        if (!Array.isArray(value) || value.length === 0)
          problem(`\`${key}\` must be a list with at least one schema`, key)
        else value.forEach((item: Json, index) => visit(item, [...path, key, index]))
      } else if (!isJsonObject(value)) {
        problem(`\`${key}\` must be a mapping of schemas`, key)
      } else {
        visitMap(key, value)
      }
    }

    function visitMap(key: string, map: JsonObject): void {
      for (const [name, item] of Object.entries(map)) {
        const cost = key === 'patternProperties' ? patternCost(name) : null
        if (cost !== null && 'refused' in cost)
          problem(`the pattern \`${name}\` is refused: ${cost.refused}`, key, name)
        visit(item, [...path, key, name])
      }
    }
  }
}

function checkType(value: Json): string | null {
  const names: readonly Json[] = Array.isArray(value) ? value : [value]
  const wrong = names.find((name) => !types.includes(name as string))
  if (wrong === undefined && names.length > 0) return null
  const nearest = typeof wrong === 'string' ? nearestName(wrong, types) : null
  return `must be one or more of ${types.join(', ')}${nearest === null ? '' : `; did you mean \`${nearest}\`?`}`
}

function checkPattern(value: Json): string | null {
  if (typeof value !== 'string') return 'must be a string'
  const cost = patternCost(value)
  return 'refused' in cost ? `is refused: ${cost.refused}` : null
}

function checkFormat(value: Json): string | null {
  if (typeof value !== 'string') return 'must be a string'
  const nearest = formats.has(value) ? null : nearestName(value, formats)
  return nearest === null ? null : `has no \`${value}\`; did you mean \`${nearest}\`?`
}

function firstOf(messages: readonly (string | null)[]): string | null {
  return messages.find((message) => message !== null) ?? null
}
