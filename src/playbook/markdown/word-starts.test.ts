import { describe, expect, test } from 'vitest'
import { WordStarts } from './word-starts.ts'

function startsOf(...words: string[]): WordStarts {
  const starts = new WordStarts()
  for (const word of words) starts.add(word)
  return starts
}

describe('WordStarts', () => {
  test.each(['please lookup it', 'Lookup order', 'doLookup', 'x_lookup', '1 lookup', 'LOOKUP'])(
    'sees that a word may stand in %j',
    (text) => {
      expect(startsOf('lookup').mayStandIn(text)).toBe(true)
    },
  )

  test.each(['please refund it', 'a blookup', ''])('sees that none stands in %j', (text) => {
    expect(startsOf('lookup').mayStandIn(text)).toBe(false)
  })

  test('never says no where it cannot tell: one letter, or letters of another script', () => {
    expect(startsOf('x').mayStandIn('an X ray')).toBe(true)
    expect(startsOf('örtlich').mayStandIn('nothing')).toBe(true)
    expect(startsOf('lookup').mayStandIn('größe')).toBe(true)
  })
})
