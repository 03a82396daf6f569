import { describe, expect, test } from 'vitest'
import { plainSigns } from './plain-signs.ts'

describe('plainSigns', () => {
  test.each([
    ['Don’t call refund', "Don't call refund"],
    ['Say “Don’t worry”', 'Say "Don’t worry"'],
    ['Say ‘It’s late’.', 'Say "It’s late".'],
    ['Say «Hallo»', 'Say "Hallo"'],
    ['Tell user „Guten Tag“', 'Tell user "Guten Tag"'],
    ['Say 「你好」', 'Say "你好"'],
    ['Say "it’s “so”"', 'Say "it’s “so”"'],
    ['Say “he said "no"”', 'Say “he said "no"”'],
    ['the customers’ orders', "the customers' orders"],
    ['“open', '“open'],
    ["Say 'Don't worry'.", 'Say "Don\'t worry".'],
    ["the user's orders' 'x'", 'the user\'s orders\' "x"'],
    ["$x == 'it\\'s'", "$x == 'it\\'s'"],
  ])('%s', (text, plain) => {
    expect(plainSigns(text)).toBe(plain)
    expect(plainSigns(text)).toHaveLength(text.length)
  })
})
