import { describe, expect, it } from 'vitest'
import type { Json } from './json.ts'
import { compileJsonSchema, findSchemaProblems, type JsonSchema } from './json-schema.ts'
import { patternCost } from './pattern-cost.ts'
import { ownTime } from './own-time.suite.ts'

const check = (schema: JsonSchema, value: unknown) => compileJsonSchema(schema).check(value)

const quickly = (work: () => void) => {
  const start = ownTime()
  work()
  expect(ownTime() - start).toBeLessThan(3_000)
}

describe('compileJsonSchema', () => {
  it('accepts what fits and says in words what does not, with its place', () => {
    const schema = {
      type: 'object',
      required: ['order_id', 'amount'],
      properties: {
        order_id: { type: 'string', pattern: '^ORD-[0-9]+$' },
        amount: { type: 'number', minimum: 0, maximum: 500 },
        lines: { type: 'array', items: { enum: ['a', 'b'] } },
      },
      additionalProperties: false,
    }
    expect(check(schema, { order_id: 'ORD-1', amount: 3 })).toEqual([])
    expect(check(schema, { order_id: 7, amount: 501, lines: ['a', 'c'], other: 1 })).toEqual([
      '`order_id` must be string, not number',
      '`amount` is 501, more than 500',
      '`lines.1` must be one of ["a","b"]',
      '`other` is not allowed',
    ])
    expect(check(schema, {})).toEqual(['lacks `order_id`', 'lacks `amount`'])
  })

  it('names the alternatives once instead of everything that is wrong with each', () => {
    expect(check({ anyOf: [{ type: 'string' }, { type: 'object', required: ['x'] }] }, 3)).toEqual([
      'fits none of the alternatives',
    ])
  })

  it.each<[JsonSchema, Json, string]>([
    [{ exclusiveMinimum: 0 }, 0, 'is 0, and must be more than 0'],
    [{ exclusiveMaximum: 1.5 }, 2, 'is 2, and must be less than 1.5'],
    [{ minimum: 1 }, -0.5, 'is -0.5, less than 1'],
    [{ multipleOf: 5 }, 3, 'is 3, not a multiple of 5'],
    [{ minProperties: 1 }, {}, 'has too few members'],
    [{ maxProperties: 0 }, { a: 1 }, 'has too many members'],
    [{ contains: { type: 'string' } }, [1], 'has no item of the form that is asked for'],
    [{ const: 'x' }, 'y', 'must be "x"'],
    [{ not: { type: 'string' } }, 'y', 'has a form that is excluded'],
    [{ type: ['string', 'null'] }, 3, 'must be string, null, not number'],
    [{ format: 'date' }, 'today', 'is not a valid date'],
  ])('says of %j that %j %s', (schema, value, sentence) => {
    expect(check(schema, value)).toEqual([sentence])
  })

  it('treats inherited names as absent members', () => {
    expect(check({ required: ['constructor'] }, {})).toEqual(['lacks `constructor`'])
    expect(check({ properties: { toString: false } }, {})).toEqual([])
  })

  it('says that a missing value is missing', () => {
    expect(check({}, undefined)).toEqual(['is missing'])
    expect(check(true, { a: [undefined] })).toHaveLength(1)
  })

  it('works on a frozen schema and leaves it as it was', () => {
    const schema = Object.freeze({
      properties: Object.freeze({ a: Object.freeze({ $ref: '#/$defs/t' }) }),
      $defs: Object.freeze({ t: Object.freeze({ type: 'string' }) }),
    })
    const before = JSON.stringify(schema)
    expect(check(schema, { a: 1 })).toEqual(['`a` must be string, not number'])
    expect(JSON.stringify(schema)).toBe(before)
  })

  it.each<[string, Json, RegExp]>([
    ['no schema at all', 3, /mapping, true or false/],
    ['an unknown type', { type: 'strng' }, /did you mean `string`/],
    ['a misspelt keyword', { requried: ['a'] }, /did you mean `required`/],
    ['a misspelt format', { format: 'emial' }, /did you mean `email`/],
    ['a bad pattern', { pattern: '(' }, /not a regular expression/],
    ['a bad pattern for names', { patternProperties: { '(a+)+': true } }, /inside another/],
    ['a remote reference', { $ref: 'https://example.com/schema' }, /into this schema/],
    ['a reference to nothing', { $ref: '#/$defs/x' }, /not in the schema/],
    ['a reference to itself', { $ref: '#' }, /refers to itself/],
    [
      'references in a circle',
      {
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
        $ref: '#/$defs/a',
      },
      /refers to itself/,
    ],
    ['a list of items', { items: [{}] }, /prefixItems/],
    ['negative lengths', { minLength: -1 }, /whole number/],
    ['dynamic references', { $dynamicRef: '#x' }, /not supported/],
  ])('refuses %s', (_, schema, message) => {
    expect(
      findSchemaProblems(schema)
        .map((problem) => problem.message)
        .join(),
    ).toMatch(message)
    expect(() => compileJsonSchema(schema as JsonSchema)).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
  })

  it('leaves vendor keywords and unknown formats alone', () => {
    expect(check({ 'x-order': 1, nullable: true, format: 'int32', type: 'integer' }, 3)).toEqual([])
  })

  it('follows a schema that describes nested values', () => {
    const tree = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } }, name: { type: 'string' } },
    }
    expect(check(tree, { name: 'a', children: [{ name: 'b', children: [{ name: 3 }] }] })).toEqual([
      '`children.0.children.0.name` must be string, not number',
    ])
    const json = {
      anyOf: [
        { type: ['string', 'number'] },
        { type: 'array', items: { $ref: '#' } },
        { type: 'object', additionalProperties: { $ref: '#' } },
      ],
    }
    let deep: Json = 1
    for (let level = 0; level < 100; level++) deep = level % 2 === 0 ? [deep] : { a: deep }
    expect(check(json, deep)).toEqual([])
  })
})

describe('hostile schemas and values', () => {
  it('refuses references that multiply without end', () => {
    const $defs: Record<string, Json> = { d40: { type: 'string' } }
    for (let index = 0; index < 40; index++) {
      $defs[`d${index}`] = { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] }
    }
    quickly(() => expect(findSchemaProblems({ $defs, $ref: '#/$defs/d0' })[0]?.message).toMatch(/multiplies/))
  })

  it('refuses to go deep into a value where each level doubles the work', () => {
    const schema = {
      $defs: { x: { properties: { a: { $ref: '#' } } } },
      allOf: [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/x' }],
    }
    let value: Json = 1
    for (let level = 0; level < 100; level++) value = { a: value }
    quickly(() => expect(check(schema, value)[0]).toMatch(/too deep to check/))
    expect(check(schema, { a: { a: { a: 1 } } })).toEqual([])
  })

  it('refuses values nested too deep without overflowing', () => {
    let value: Json = 1
    for (let level = 0; level < 100_000; level++) value = [value]
    quickly(() => expect(check({ type: 'array' }, value)[0]).toMatch(/too deep to check/))
  })

  it('ends on cyclic values', () => {
    const value: Record<string, unknown> = {}
    value['self'] = value
    expect(check({}, value)[0]).toMatch(/too deep/)
  })

  it('fails long lists of wrong items with one sentence', () => {
    quickly(() =>
      expect(
        check(
          { items: { type: 'string' } },
          Array.from({ length: 150_000 }, () => 1),
        ),
      ).toHaveLength(1),
    )
  })

  it('compares the items of short lists only', () => {
    expect(check({ uniqueItems: true }, [1, 2, 1])).toHaveLength(1)
    quickly(() =>
      expect(
        check(
          { uniqueItems: true },
          Array.from({ length: 50_000 }, (_, index) => index),
        )[0],
      ).toMatch(/too many items/),
    )
  })

  it.each([
    '^a*a*a*a*b$',
    '^[a-z]*[a-z]*[a-z]*$',
    '^(?:a?){20}a{20}$',
    'a+a+$',
    '^(?:a{0,5}){6}b$',
    '(?:a|b|ab){8}c$',
    '^.*.*=.*$',
    'x*y*z*',
  ])('ends quickly with the pattern %s on the longest text it takes', (pattern) => {
    const cost = patternCost(pattern)
    if ('refused' in cost) return
    quickly(() => new RegExp(pattern, 'u').test('a'.repeat(Math.min(cost.longest, 1e6))))
    quickly(() =>
      expect(
        check({ pattern }, 'a'.repeat(cost.longest < 1e6 ? cost.longest + 1 : 3)).length,
      ).toBeGreaterThanOrEqual(0),
    )
  })

  it.each([
    '(a+)+$',
    '(a*)*',
    '(?:a|a)*$',
    '(a|aa)+$',
    '(?:a?)*b',
    '(\\w+\\s?)*$',
    '(.*a){20}',
    '(?:a?){40}a{40}',
    '(a)\\1',
    '(?<x>a)\\k<x>',
    'a(?=b)',
    '(?<!a)b',
  ])('refuses the pattern %s', (pattern) => {
    expect(patternCost(pattern)).toHaveProperty('refused')
  })

  it.each([
    '^ORD-[0-9]+$',
    '^[a-z0-9-]{1,64}$',
    '^(?:\\d{1,3}\\.){3}\\d{1,3}$',
    '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
    '\\p{Lu}[\\]x]+',
    '^(?<year>\\d{4})-(?<month>\\d\\d)$',
    '^\\u{1F600}*$',
    'colou?r',
  ])('takes the pattern %s for texts of a useful length', (pattern) => {
    expect(patternCost(pattern)).toHaveProperty('longest', expect.any(Number))
    expect((patternCost(pattern) as { longest: number }).longest).toBeGreaterThan(400)
  })

  it('fails a text that is too long for its pattern instead of matching it', () => {
    const schema = { pattern: '^[^@]+@[^@]+\\.[^@]+$' }
    expect(check(schema, 'a@b.c')).toEqual([])
    expect(check(schema, 'a'.repeat(500))[0]).toMatch(/too long: 500 characters, at most 464/)
  })

  it('fails a member name that is too long for the patterns of names', () => {
    const schema = { patternProperties: { '^a*b*c*d*$': { type: 'string' } } }
    expect(check(schema, { ab: 'x' })).toEqual([])
    expect(check(schema, { ['a'.repeat(200)]: 'x' })[0]).toMatch(/member name/)
  })
})
