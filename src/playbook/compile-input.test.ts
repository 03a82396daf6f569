import { describe, expect, it } from 'vitest'
import type { Json } from '../shared/json.ts'
import { checkedInput, compileInput, InputProblem } from './compile-input.ts'

const inputs = {
  node: 'n-1',
  count: 3,
  on: true,
  none: null,
  list: [1, { a: '{inputs.node}' }],
  map: { x: 1 },
}

/** The value with its placeholders filled in. */
function fill(value: Json): Json | InputProblem {
  return checkedInput(value, 'input').evaluate([inputs, {}, { id: 7 }, 2])
}

describe('an input with placeholders', () => {
  it.each<[Json, Json]>([
    ['{inputs.count}', 3],
    ['{inputs.on}', true],
    ['{inputs.none}', null],
    ['{inputs.map}', { x: 1 }],
    ['{ inputs.count + 1 }', 4],
    ['{item.id}', 7],
    ['{index}', 2],
  ])('keeps the type of %j', (given, want) => expect(fill(given)).toEqual(want))

  it.each<[Json, Json]>([
    [' {inputs.count}', ' 3'],
    ['{inputs.count}{inputs.count}', '33'],
    ['on {inputs.node}: {inputs.on}', 'on n-1: true'],
    ['{{{inputs.count}}}', '{3}'],
    ['{{inputs.count}}', '{inputs.count}'],
    ['}} and {{', '} and {'],
    ['no placeholder', 'no placeholder'],
    ['', ''],
  ])('makes text of %j', (given, want) => expect(fill(given)).toBe(want))

  it('fills in texts however deep, and leaves every other value and every name alone', () => {
    const given = { '{inputs.node}': [1, null, { deep: ['{inputs.node}', false] }], n: 2.5 }
    expect(fill(given)).toEqual({ '{inputs.node}': [1, null, { deep: ['n-1', false] }], n: 2.5 })
  })

  it('never reads what was filled in as a template', () => {
    expect(fill({ x: '{inputs.list}' })).toEqual({ x: [1, { a: '{inputs.node}' }] })
    expect(fill('{inputs.list[1].a}')).toBe('{inputs.node}')
  })

  it('keeps names that every object inherits as names', () => {
    const given = JSON.parse('{"__proto__": {"x": "{inputs.node}"}, "constructor": 1}') as Json
    const filled = fill(given) as Record<string, unknown>
    expect(Object.keys(filled)).toEqual(['__proto__', 'constructor'])
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"x":"n-1"},"constructor":1}')
    expect((filled as { x?: unknown }).x).toBeUndefined()
  })

  it('says which text could not be filled in, and where; whoever knows better says what stands for it', () => {
    const given = { a: ['fine', { b: 'of {inputs.nope}' }] }
    expect(fill(given)).toMatchObject({
      path: ['a', 1, 'b'],
      source: 'of {inputs.nope}',
      error: { code: 'missing_value' },
    })
    const instead = checkedInput(given, 'input').evaluate([inputs], ({ source }) => source)
    expect(instead).toEqual(given)
  })

  it('sees only what is known where it stands', () => {
    const misspelt = (source: string, scope: 'foreach' | 'input' | 'after') =>
      compileInput(source, scope).misspelt.length
    expect(misspelt('{item}', 'foreach')).toBe(1)
    expect(misspelt('{item}', 'input')).toBe(0)
    expect(misspelt('{output}', 'input')).toBe(1)
    expect(misspelt('{output}', 'after')).toBe(0)
    expect(misspelt('{result}', 'after')).toBe(1)
  })

  it('reports every text that cannot be read, each with its place', () => {
    const { misspelt } = compileInput({ a: '{', b: ['}', '{inputs.x}', '{nope}'] }, 'input')
    expect(misspelt.map(({ path, source }) => [path.join('.'), source])).toEqual([
      ['a', '{'],
      ['b.0', '}'],
      ['b.2', '{nope}'],
    ])
  })
})
