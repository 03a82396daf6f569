import { describe, expect, test } from 'vitest'
import { openingOf, opens } from './opening-word.ts'

describe('openingOf', () => {
  test.each([
    ['If $x', 'if', opens.branch],
    ['OTHERWISE', 'otherwise', opens.branch],
    ['ask: who?', 'ask', opens.confirmation | opens.speech | opens.question],
    ['end', 'end', opens.endingGuard | opens.ending],
    ['endprogram()', 'endprogram', opens.ending],
    ['Initialise $x', 'initialise', opens.giving],
    ['For2 each', 'for', opens.loop],
  ])('%j opens what its word opens', (text, word, bits) => {
    expect(openingOf(text)).toEqual({ word, opens: bits })
  })

  test.each([
    ['Refund the order', 'refund'],
    ['ifs and buts', 'ifs'],
    ['Größe', 'größe'],
    ['$x = 1', ''],
    ['', ''],
    ['"Hello"', ''],
  ])('%j opens nothing', (text, word) => {
    expect(openingOf(text)).toEqual({ word, opens: 0 })
  })

  test('letters that become ASCII ones when they are made small count as those', () => {
    // The sign of the kelvin.
    expect(openingOf('brea\u212a the loop')).toEqual(openingOf('break the loop'))
  })
})
