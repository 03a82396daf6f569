import { ExpressionError } from './expression-error.ts'
import { expressionLimit } from './expression-limit.ts'
import { grammar } from './parse-expression.ts'
import { parseHole } from './parse-text.ts'
import { SyntaxFailure } from './syntax-failure.ts'
import type { TextHole, TextNode } from './syntax-node.ts'
import { TokenCursor } from './token-cursor.ts'

/**
 * Splits a text into what stands for itself and its placeholders `{expression}`; `{{` and `}}` are braces. Unlike in an f-string
 * a backslash is a backslash. A brace that belongs to no placeholder is an error; never throws.
 */
export function parseTemplate(source: string): TextNode | ExpressionError {
  if (source.length > expressionLimit.sourceLength) {
    return new ExpressionError(
      'expression_limit',
      `the text has ${source.length} characters; at most ${expressionLimit.sourceLength} are allowed`,
      { start: expressionLimit.sourceLength, end: source.length },
    )
  }
  const parts: (string | TextHole)[] = []
  let text = ''
  let at = 0
  while (at < source.length) {
    const character = source[at]!
    const brace = character === '{' || character === '}'
    if (!brace || source[at + 1] === character) {
      text += character
      at += brace ? 2 : 1
      continue
    }
    if (character === '}') {
      return new ExpressionError('expression_syntax', 'a `}` without `{` must be written as `}}`', {
        start: at,
        end: at + 1,
      })
    }
    if (text !== '') parts.push(text)
    text = ''
    const hole = readHole(source, at)
    if (hole instanceof ExpressionError) return hole
    parts.push(hole)
    at = hole.end
  }
  if (text !== '') parts.push(text)
  return { kind: 'text', parts, start: 0, end: source.length }
}

function readHole(source: string, at: number): TextHole | ExpressionError {
  try {
    return parseHole(new TokenCursor(source, at), at, grammar)
  } catch (failure) {
    if (failure instanceof SyntaxFailure) return failure.error
    throw failure
  }
}
