import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixedText, roundNumber } from './round-number.ts'

test.each([
  [0.5, 0, '0'],
  [1.5, 0, '2'],
  [2.5, 0, '2'],
  [-0.5, 0, '-0'],
  [-2.5, 0, '-2'],
  [0.125, 2, '0.12'],
  [0.375, 2, '0.38'],
  [2.675, 2, '2.67'],
  [1.005, 2, '1.00'],
  [9.995, 2, '9.99'],
  [99.5, 0, '100'],
  [1e21, 1, '1000000000000000000000.0'],
  [5e-324, 3, '0.000'],
])('%d with %d digits is written %s', (value, digits, text) => {
  expect(fixedText(value, digits)).toBe(text)
})

test('a rounded number lies within half a unit, and is the even one in the exact middle', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), (n) => {
      const rounded = roundNumber(n / 2, 0)
      expect(Math.abs(rounded - n / 2)).toBeLessThanOrEqual(0.5)
      if (n % 2 !== 0) expect(Math.abs(rounded % 2)).toBe(0)
    }),
  )
})

test('tens and hundreds are rounded to the even neighbour too', () => {
  expect(roundNumber(15, -1)).toBe(20)
  expect(roundNumber(25, -1)).toBe(20)
  expect(roundNumber(-25, -1)).toBe(-20)
  expect(roundNumber(149, -2)).toBe(100)
  expect(roundNumber(151, -2)).toBe(200)
})
