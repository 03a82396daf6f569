import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffLines, type DiffLine } from './diff-lines.ts'

function text(lines: readonly DiffLine[], without: DiffLine['kind']): string {
  return lines
    .filter(({ kind }) => kind !== without)
    .map(({ text: line }) => line)
    .join('\n')
}

/** The length of the longest list that both hold in order, the slow way. */
function common(one: readonly string[], two: readonly string[]): number {
  const row = Array.from({ length: two.length + 1 }, () => 0)
  for (const line of one) {
    let corner = 0
    for (let at = 1; at <= two.length; at++) {
      const above = row[at]!
      row[at] = line === two[at - 1] ? corner + 1 : Math.max(above, row[at - 1]!)
      corner = above
    }
  }
  return row[two.length]!
}

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', '  d'), { maxLength: 30 })

describe('diffLines', () => {
  it('tells what was taken out and put in', () => {
    expect(diffLines('a\nb\nc', 'a\nx\nc\nd')).toEqual([
      { kind: 'same', text: 'a' },
      { kind: 'removed', text: 'b' },
      { kind: 'added', text: 'x' },
      { kind: 'same', text: 'c' },
      { kind: 'added', text: 'd' },
    ])
    expect(diffLines('a', 'a')).toEqual([{ kind: 'same', text: 'a' }])
    expect(diffLines('', 'a')).toEqual([{ kind: 'added', text: 'a' }])
    expect(diffLines('', '')).toEqual([])
  })

  it('gives both texts back, and takes no more than has to be', () => {
    fc.assert(
      fc.property(lines, lines, (one, two) => {
        // A text without lines and one with an empty line are written alike.
        fc.pre(one.join('\n') !== '' && two.join('\n') !== '')
        const found = diffLines(one.join('\n'), two.join('\n'))
        expect(text(found, 'added')).toBe(one.join('\n'))
        expect(text(found, 'removed')).toBe(two.join('\n'))
        expect(found.filter(({ kind }) => kind === 'same').length).toBe(common(one, two))
      }),
    )
  })

  it('tells texts that have nothing in common as one replaced by the other, soon', () => {
    const one = Array.from({ length: 20_000 }, (_, index) => `a${index}`).join('\n')
    const two = Array.from({ length: 20_000 }, (_, index) => `b${index}`).join('\n')
    const found = diffLines(one, two)
    expect(text(found, 'added')).toBe(one)
    expect(text(found, 'removed')).toBe(two)
  })
})
