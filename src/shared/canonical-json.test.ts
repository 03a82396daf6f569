import { assert, jsonValue, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { digest } from './digest.ts'
import type { Json } from './json.ts'

describe('canonicalJson', () => {
  it('writes members in the order of their UTF-16 units, without spaces', () => {
    // The example of RFC 8785, 3.2.3.
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }
    expect(Object.values(JSON.parse(canonicalJson(value)) as object)).toHaveLength(7)
    expect([...canonicalJson(value).matchAll(/:"(\w+)/g)].map((match) => match[1])).toEqual([
      'Carriage',
      'One',
      'Control',
      'Latin',
      'Euro',
      'Emoji',
      'Hebrew',
    ])
  })

  it('writes numbers as JavaScript does, and minus zero as zero', () => {
    expect(canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
    )
  })

  it('leaves out members that are undefined, and refuses undefined items', () => {
    expect(canonicalJson({ a: undefined, b: 1 } as never)).toBe('{"b":1}')
    expect(() => canonicalJson([undefined] as never)).toThrow(/undefined/)
  })

  it.each([
    ['NaN', Number.NaN],
    ['infinity', { a: Infinity }],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson(value as never)).toThrow(expect.objectContaining({ code: 'invalid_value' }))
  })

  it('refuses a value that contains itself instead of overflowing', () => {
    const value: unknown[] = []
    value.push(value)
    expect(() => canonicalJson(value as never)).toThrow(/cycle/)
  })

  it('gives equal text for equal values whatever the order of their members, and parses back', () => {
    assert(
      property(jsonValue(), (value) => {
        const text = canonicalJson(value as Json)
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text)
        expect(canonicalJson(reversed(value as Json))).toBe(text)
      }),
    )
  })
})

describe('digest', () => {
  it('is the SHA-256 of the text in UTF-8', () => {
    expect(digest('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(digest('é')).toBe('sha256:4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c')
  })
})

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  )
}
