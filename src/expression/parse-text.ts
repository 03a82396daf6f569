import type { Grammar } from './grammar.ts'
import type { TextHole, TextNode } from './syntax-node.ts'
import type { Token } from './read-token.ts'
import { checkWellFormed, plainEnd, readCharacter } from './read-string.ts'
import type { TokenCursor } from './token-cursor.ts'

/** Parses the f-string whose opening token is current: text, `{{` and `}}`, and `{expression:format}`. */
export function parseText(cursor: TokenCursor, opening: Token, grammar: Grammar): TextNode {
  const { source } = cursor
  const { text: quote, start } = opening
  if (source.startsWith(quote + quote, opening.end)) {
    cursor.refuse(`triple quotes are not supported; write one ${quote} and \\n for a line break`)
  }
  const parts: (string | TextHole)[] = []
  let text = ''
  let at = opening.end
  for (;;) {
    const plain = plainEnd(source, at)
    if (plain > at) text += source.slice(at, plain)
    at = plain
    const character = source[at]
    if (character === undefined)
      cursor.fail(`the string has no closing ${quote}`, { start, end: source.length })
    if (character === quote) break
    if (character === '{' && source[at + 1] !== '{') {
      checkWellFormed(text, start, at)
      if (text !== '') parts.push(text)
      text = ''
      const hole = parseHole(cursor, at, grammar)
      parts.push(hole)
      at = hole.end
      continue
    }
    if (character === '}' && source[at + 1] !== '}') {
      cursor.fail('a single `}` must be written as `}}` in an f-string', { start: at, end: at + 1 })
    }
    const doubled = character === '{' || character === '}'
    const piece = doubled ? { value: character, end: at + 2 } : readCharacter(source, at)
    text += piece.value
    at = piece.end
  }
  checkWellFormed(text, start, at)
  if (text !== '') parts.push(text)
  cursor.jump(at + 1)
  return { kind: 'text', parts, start, end: at + 1 }
}

/** Parses the placeholder that begins at an offset: `{expression}` or `{expression:format}`. */
export function parseHole(cursor: TokenCursor, start: number, grammar: Grammar): TextHole {
  cursor.jump(start + 1)
  if (cursor.isSign('}')) cursor.fail('a placeholder `{}` needs an expression', { start, end: start + 2 })
  const value = grammar.expression(cursor)
  if (cursor.isSign('=')) cursor.refuse('`{x=}` is not supported; write the name before the placeholder')
  if (cursor.isSign('}')) return { value, format: null, start, end: cursor.token.end }
  if (!cursor.isSign(':')) cursor.fail(`expected \`}\` to close the placeholder, found ${cursor.describe()}`)
  const from = cursor.token.end
  const end = cursor.source.indexOf('}', from)
  if (end < 0) cursor.fail('the placeholder has no closing `}`', { start, end: cursor.source.length })
  const format = cursor.source.slice(from, end)
  if (format.includes('{')) cursor.refuse('a format cannot hold a placeholder', { start: from, end })
  return { value, format, start, end: end + 1 }
}
