import { expect, test } from 'vitest'
import { keepJson } from './keep-json.ts'
import { toJson } from './to-json.ts'

test('what is kept is a frozen copy, and is its own copy from then on', () => {
  const given = { list: [{ a: 1 }] }
  const kept = keepJson(given)
  expect(kept).toEqual(given)
  expect(kept).not.toBe(given)
  expect([kept, kept.list, kept.list[0]].every(Object.isFrozen)).toBe(true)
  given.list[0]!.a = 2
  expect(toJson(kept)).toEqual({ value: { list: [{ a: 1 }] }, problem: null })
  expect((toJson(kept) as { value: unknown }).value).toBe(kept)
})

test('what is kept counts towards every limit exactly as if it were not', () => {
  const value = { one: ['x', { deep: 'text' }], two: null }
  const kept = keepJson(value)
  const whole = { depth: 4, nodes: 7, text: 15 + 4 }
  const inside = (part: unknown) => ({ part })
  for (const limits of [
    whole,
    { ...whole, depth: 3 },
    { ...whole, nodes: 6 },
    { ...whole, text: 18 },
    { ...whole, text: 0 },
  ]) {
    expect(toJson(inside(kept), limits)).toEqual(toJson(inside(value), limits))
  }
  expect(toJson(inside(value), whole).problem).toBe(null)
  expect(toJson(inside(value), { ...whole, depth: 3 }).problem).not.toBe(null)
  expect(toJson(inside(value), { ...whole, nodes: 6 }).problem).not.toBe(null)
  expect(toJson(inside(value), { ...whole, text: 18 }).problem).not.toBe(null)
})

test('what JSON cannot hold is given back for whoever writes it down to refuse', () => {
  const odd = { when: new Date(0) }
  expect(keepJson(odd)).toBe(odd)
  expect(toJson(odd).problem).not.toBe(null)
})
