import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { glanceAt, holds } from './glance.ts'

describe('glanceAt', () => {
  test.each([
    ['Say "hello"', holds.quote],
    ["don't", holds.apostrophe | holds.negation | holds.guard | holds.rule],
    ['$x = 1', holds.dollar | holds.equals | holds.digit],
    ['STORE it', holds.keeping],
    ['then,ask(', holds.ask | holds.joint | holds.border | holds.parenthesis],
    ['it is', holds.is],
    ['x <y', holds.guard],
    ['two\nlines', holds.lineFeed],
    ['größe', holds.lineFeed | holds.dollar | holds.rule],
  ])('sees what stands in %j', (text, bits) => {
    expect(glanceAt(text) & bits).toBe(bits)
  })

  test.each(['', 'Look at the order', 'restored asking mustard isle'])('sees nothing in %j', (text) => {
    expect(glanceAt(text)).toBe(0)
  })

  test('a word is seen wherever it stands, and in whichever letters', () => {
    const words = ['must', 'Ask', 'PUT', 'never', 'stop', 'confirm', 'and']
    const bits = [
      holds.must,
      holds.ask,
      holds.keeping,
      holds.negation,
      holds.ending,
      holds.agreement,
      holds.joint,
    ]
    fc.assert(
      fc.property(fc.nat(words.length - 1), fc.string(), fc.string(), (at, before, after) => {
        const text = `${before} ${words[at]!}.${after}`
        expect(glanceAt(text) & bits[at]!).not.toBe(0)
      }),
    )
  })
})
