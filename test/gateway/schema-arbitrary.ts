import * as fc from 'fast-check'

type Schema = Readonly<Record<string, unknown>>

/** Texts that have broken something somewhere. */
export const hostileTexts = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202egnp.exe',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' OR 1=1; DROP TABLE runs; --",
  '../../../../etc/passwd',
  '..%2f..%2fkeys',
  '__proto__',
  'constructor',
  '${7*7}{{7*7}}',
  '%00%0d%0aSet-Cookie:a=b',
  'a'.repeat(5000),
  '9'.repeat(400),
  '2026-13-45T99:99:99Z',
  '0000-00-00T00:00:00.000Z',
  'null',
  '-1',
  '1e999',
]
const hostileValues = [
  null,
  true,
  -0,
  1e308,
  -1,
  2 ** 53,
  [],
  {},
  [[[[[]]]]],
  { __proto__: 1 },
  ...hostileTexts,
]

/** A text that may be anything. */
export const hostileText = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ maxLength: 40 }))
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...hostileValues),
  fc.jsonValue({ maxDepth: 3 }),
)

/** What nearly fits a schema: most of it as wanted, some of it anything. `known` are ids of things that are there. */
export function nearly(schema: Schema, known: readonly string[], depth = 0): fc.Arbitrary<unknown> {
  const fitting = fit(schema, known, depth)
  return fc.oneof({ weight: 9, arbitrary: fitting }, { weight: 1, arbitrary: hostile })
}

function fit(schema: Schema, known: readonly string[], depth: number): fc.Arbitrary<unknown> {
  if (depth > 4) return hostile
  const choices = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined
  if (choices !== undefined) return fc.oneof(...choices.map((each) => nearly(each, known, depth + 1)))
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
  if ('const' in schema) return fc.constant(schema['const'])
  switch (schema['type']) {
    case 'object':
      return object(schema, known, depth)
    case 'array':
      return fc.array(nearly((schema['items'] ?? {}) as Schema, known, depth + 1), { maxLength: 3 })
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer({ min: -2, max: 300 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return fc.oneof(
        hostileText,
        fc.constantFrom(...known, 'a', 'ada@acme.example', 'https://hooks.example/x', 'body.a'),
        fc.constantFrom('2026-11-16T00:00:00.000Z', '2027-01-01T00:00:00Z'),
      )
    default:
      return hostile
  }
}

function object(schema: Schema, known: readonly string[], depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
  const required = new Set(schema['required'] as readonly string[] | undefined)
  const members = Object.fromEntries(
    properties.map(([name, each]) => [
      name,
      required.has(name)
        ? nearly(each, known, depth + 1)
        : fc.option(nearly(each, known, depth + 1), { nil: undefined }),
    ]),
  )
  const more = schema['additionalProperties']
  const others =
    typeof more === 'object' && more !== null ? nearly(more as Schema, known, depth + 1) : hostile
  return fc
    .tuple(fc.record(members), fc.dictionary(hostileText, others, { maxKeys: 2 }), fc.boolean())
    .map(([own, strange, add]) => (add ? { ...strange, ...own } : own))
}
