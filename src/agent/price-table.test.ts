import { describe, expect, test } from 'vitest'
import { costOf, listPrices, priceLists, priceOf } from './price-table.ts'
import { Spending } from './spending.ts'

describe('the price of a model', () => {
  test('is found for dated versions too, and the host has the last word', () => {
    expect(priceOf('gpt-4o', {})).toEqual(listPrices['gpt-4o'])
    expect(priceOf('gpt-4o-2024-11-20', {})).toEqual(listPrices['gpt-4o'])
    expect(priceOf('claude-sonnet-4-5-20250929', {})).toEqual(listPrices['claude-sonnet-4-5'])
    expect(priceOf('gpt-4o', { 'gpt-4o': { input: 1, output: 1 } })).toEqual({ input: 1, output: 1 })
  })

  test.each(['llama', 'gpt-4o-mini-tts', 'constructor', '__proto__', ''])(
    'is null where it is not known: %j',
    (id) => {
      expect(priceOf(id, {})).toBeNull()
    },
  )

  test('goes back to a page of its vendor and to a month, and stands in one list only', () => {
    const ids = priceLists.flatMap(({ prices }) => Object.keys(prices))
    expect(new Set(ids).size).toBe(ids.length)
    expect(Object.keys(listPrices)).toEqual(ids)
    for (const { source, asOf, prices } of priceLists) {
      expect(new URL(source).protocol).toBe('https:')
      expect(asOf).toMatch(/^20\d\d-(?:0[1-9]|1[0-2])$/)
      for (const { input, output } of Object.values(prices))
        expect(Math.min(input, output)).toBeGreaterThan(0)
    }
  })

  test('is for a million tokens', () => {
    expect(costOf({ input: 2, output: 10 }, 500_000, 100_000)).toBe(2)
  })
})

describe('what is spent', () => {
  const price = { input: 1, output: 2 }

  test('below counts above as well, at the price of whoever spent it', () => {
    const above = new Spending({ dollars: 5 }, price, 'm')
    const below = new Spending({}, { input: 10, output: 0 }, 'n', above)
    below.spend({ promptTokens: 100_000, completionTokens: 0 })
    above.spend({ promptTokens: 0, completionTokens: 500_000 })
    expect([below.cost, above.cost]).toEqual([1, 2])
    expect(above.promptTokens + above.completionTokens).toBe(600_000)
  })

  test('stops whoever is below when the budget above is used up', () => {
    const above = new Spending({ tokens: 10 }, null, 'm')
    const below = new Spending({}, null, 'n', above)
    expect(below.exceeded()).toBeNull()
    expect(below.allowance(null)).toBe(10)
    above.spend({ promptTokens: 10, completionTokens: 0 })
    expect(below.exceeded()).toContain('10 tokens')
  })

  test('at an unknown price makes the cost above unknown, never too low', () => {
    const above = new Spending({}, price, 'm')
    new Spending({}, null, 'n', above).spend({ promptTokens: 10, completionTokens: 10 })
    expect(above.cost).toBeNull()
  })
})
