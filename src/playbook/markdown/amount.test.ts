import { describe, expect, test } from 'vitest'
import { oddAmount, plainAmounts } from './amount.ts'

describe('plainAmounts', () => {
  test.each([
    ['$amount > 1,000.00', '$amount > 1000.00 '],
    ['$amount > $1,000,000', '$amount > 1000000   '],
    ['$a < €20 or $b', '$a < 20  or $b'],
    ['$a in [1,100] and max(1,100) > 2', '$a in [1,100] and max(1,100) > 2'],
    ['$a == "1,000"', '$a == "1,000"'],
    ['$a > 1,00', '$a > 1,00'],
    ['$a1,000', '$a1,000'],
    ['$x > 12,3456', '$x > 12,3456'],
  ])('%s', (text, plain) => {
    expect(plainAmounts(text)).toBe(plain)
    expect(plainAmounts(text)).toHaveLength(text.length)
  })
})

describe('oddAmount', () => {
  test.each([
    ['$a > 1.000,50', '1.000,50'],
    ['$a > 1,00 and $b', '1,00'],
    ['$a > 1,000.50', undefined],
    ['$a in [1,2]', undefined],
  ])('%s', (text, odd) => {
    expect(oddAmount(text)?.text).toBe(odd)
  })
})
