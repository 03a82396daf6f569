import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TextReader } from './text-reader.ts'

function read(text: string, cuts: readonly number[], names = ['t']): Record<string, string> {
  const texts: Record<string, string> = {}
  const reader = new TextReader(new Set(names), (name, piece) => {
    expect(piece.isWellFormed()).toBe(true)
    texts[name] = (texts[name] ?? '') + piece
  })
  const at = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].toSorted(
    (a, b) => a - b,
  )
  at.slice(1).forEach((to, index) => reader.take(text.slice(at[index], to)))
  return texts
}

const key = fc.constantFrom('a', 't', 'u', 't"', '\\', '{')
const cuts = fc.array(fc.nat(), { maxLength: 12 })

/** JSON as someone else might write it: any character may be an escape. */
function escaped(text: string): string {
  return text.replace(/\\u[0-9a-f]{4}|\\.|[^\x20-\x7e]/gs, (part) =>
    part.length > 1 || part === '\n' ? part : `\\u${part.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

describe('texts in a JSON object that is still coming', () => {
  test('are what the object says, wherever it is cut', () => {
    const member = fc.tuple(key, fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 })))
    fc.assert(
      fc.property(
        fc.uniqueArray(member, { selector: ([name]) => name }),
        cuts,
        fc.boolean(),
        fc.boolean(),
        (members, at, ascii, wide) => {
          const object = Object.fromEntries(members)
          const json = JSON.stringify(object, null, wide ? 2 : 0)
          const expected = Object.fromEntries(
            Object.entries(object).filter(
              ([name, value]) => (name === 't' || name === 'u') && typeof value === 'string' && value !== '',
            ),
          )
          expect(read(`\`\`\`json\n${ascii ? escaped(json) : json}\n\`\`\``, at, ['t', 'u'])).toEqual(
            expected,
          )
        },
      ),
    )
  })

  test('are handed on as soon as they are there', () => {
    const pieces: string[] = []
    const reader = new TextReader(new Set(['t']), (_, piece) => pieces.push(piece))
    for (const delta of [
      '{"a":[{"t":"no"}],"t"',
      ' : "He',
      'llo\\',
      'u00',
      'e4 \\ud83d',
      '\\ude9a',
      '!"',
      ',"t2":"x"}',
    ])
      reader.take(delta)
    expect(pieces).toEqual(['He', 'llo', 'ä ', '🚚', '!'])
  })

  test.each(['no JSON "t":"x"', '["t","x"]', '{"t":"\\x41"}', '{"t":5}', '{t:"x"}'])(
    'are none where there are none: %s',
    (text) => {
      expect(read(text, [3])).toEqual({})
    },
  )

  test('never breaks, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[]":,\\tux0 ') }),
        cuts,
        (text, at) => void read(text, at),
      ),
    )
  })
})
