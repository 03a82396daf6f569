import { assert, jsonValue, property } from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import type { Json } from './json.ts'
import { keepJson } from './keep-json.ts'
import { toJson } from './to-json.ts'
import { writeJson } from './write-json.ts'

function copied(value: unknown): Json {
  const reading = toJson(value)
  if (reading.problem !== null) throw new Error(reading.problem)
  return reading.value
}

test('both texts are those that JSON.stringify and canonicalJson give', () => {
  assert(
    property(jsonValue(), (value) => {
      const copy = copied(value)
      expect(writeJson(copy)).toEqual({ text: JSON.stringify(copy), canonical: canonicalJson(copy) })
    }),
  )
})

test('members in any order, names and texts that need escaping, and what lies deep inside are written both ways', () => {
  for (const value of [
    { b: 1, a: [{ d: 1, c: 2 }, 'x'], 'ö"\n': '\u2028"' },
    [[{ z: 0, y: -0 }], {}, [], null, true, 1e21, 1e-7],
    { a: { b: { d: 1, c: 1 } }, e: [1, { g: 1, f: 1 }, { h: 1 }] },
    { 10: 'ten', 9: 'nine', a: '' },
  ]) {
    const copy = copied(value)
    expect(writeJson(copy)).toEqual({ text: JSON.stringify(copy), canonical: canonicalJson(copy) })
  }
})

test('more names than are remembered are written all the same', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`name${5_000 - n}`, n]))
  const copy = copied(many)
  expect(writeJson(copy)).toEqual({ text: JSON.stringify(copy), canonical: canonicalJson(copy) })
})

test('kept JSON is written as any other, wherever it stands', () => {
  const kept = keepJson({ b: [1, { y: 1, x: 2 }], a: 'text' })
  const copy = copied({ z: [kept, kept], a: { kept } }) as { a: { kept: unknown } }
  expect(copy.a.kept).toBe(kept)
  expect(writeJson(copy as Json)).toEqual({
    text: JSON.stringify(copy),
    canonical: canonicalJson(copy as Json),
  })
})
