import { assert, jsonValue, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toJson } from './to-json.ts'
import { ownTime } from './own-time.suite.ts'

const valueOf = (given: unknown): unknown => {
  const reading = toJson(given)
  if (reading.problem !== null) throw new Error(reading.problem)
  return reading.value
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let n = 0; n < depth; n++) value = [value]
  return value
}

describe('toJson', () => {
  it('gives every JSON value back as it is', () => {
    assert(
      property(jsonValue(), (value) => {
        expect(valueOf(value)).toEqual(value)
      }),
    )
  })

  it('copies and freezes, at every depth', () => {
    const inner = { n: 1 }
    const copy = valueOf({ list: [inner] }) as { list: { n: number }[] }
    inner.n = 2
    expect(copy.list[0]!.n).toBe(1)
    expect(() => (copy.list[0]!.n = 3)).toThrow(TypeError)
    expect(() => copy.list.push({ n: 4 })).toThrow(TypeError)
    expect(Object.isFrozen(copy)).toBe(true)
  })

  it('leaves out members that are undefined, and refuses undefined items', () => {
    expect(valueOf({ a: undefined, b: 1 })).toEqual({ b: 1 })
    expect(toJson([undefined]).problem).toContain('undefined')
    expect(toJson(undefined).problem).toContain('undefined')
  })

  it.each<[string, unknown]>([
    ['not a number', Number.NaN],
    ['infinity', -Infinity],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a set', new Set()],
    ['a class of your own', new URL('https://example.com')],
    ['an array buffer', new Uint8Array(2)],
    ['a boxed text', Object('x')],
    ['a promise', Promise.resolve(1)],
    ['an error', new Error('x')],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['a list with a hole', [1, , 2]], // oxlint-disable-line no-sparse-arrays -- the hole is what is tested
  ])('refuses %s, wherever it is', (_, value) => {
    expect(toJson(value).problem).toEqual(expect.any(String))
    expect(toJson({ deep: [value] }).problem).toEqual(expect.any(String))
  })

  it('refuses what contains itself, and what is nested more than 64 levels deep', () => {
    const self: unknown[] = []
    self.push(self)
    expect(toJson(self).problem).toContain('contains itself')
    expect(toJson(nested(64)).problem).toBeNull()
    expect(toJson(nested(65)).problem).toContain('64')
    expect(toJson(nested(100_000)).problem).toContain('64')
  })

  it('refuses what is too large to keep, without reading all of it', () => {
    expect(toJson(Array.from({ length: 100_001 }, () => 1)).problem).toContain('100000')
    expect(toJson('x'.repeat(10_000_001)).problem).toContain('10000000')
    const shared = Array.from({ length: 10 }, () => 1)
    let bomb: unknown[] = shared
    for (let n = 0; n < 10; n++) bomb = Array.from({ length: 10 }, () => bomb)
    const began = ownTime()
    expect(toJson(bomb).problem).not.toBeNull()
    expect(ownTime() - began).toBeLessThan(1000)
  })

  it('refuses what throws when it is read, and does not throw itself', () => {
    const getter = {
      get a() {
        throw new Error('no')
      },
    }
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no')
        },
      },
    )
    expect(toJson(getter).problem).toBe('it cannot be read')
    expect(toJson(proxy).problem).toBe('it cannot be read')
    const { proxy: revoked, revoke } = Proxy.revocable([], {})
    revoke()
    expect(toJson(revoked).problem).toBe('it cannot be read')
  })

  it('takes objects without a prototype, and own members only', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 })
    expect(valueOf(bare)).toEqual({ a: 1 })
    expect(toJson(Object.create({ inherited: 1 })).problem).not.toBeNull()
  })

  it('keeps a member called __proto__ as a member', () => {
    const copy = valueOf(JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}')) as object
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(Object.keys(copy)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('does not ask an object how it would like to be written', () => {
    expect(toJson({ amount: 5, toJSON: () => ({ amount: 6 }) }).problem).toContain('function')
  })
})
