import { hiddenCharacter, readString } from './read-string.ts'
import { readNumber } from './read-number.ts'
import { SyntaxFailure } from './syntax-failure.ts'
import { adviceFor, foreignOperators } from './foreign-syntax.ts'

/** One word, sign or literal of the source. An f-string token covers its opening quote only. */
export interface Token {
  readonly kind: 'number' | 'string' | 'text-start' | 'name' | 'sign' | 'end'
  readonly start: number
  readonly end: number
  /** The name without its sigil, the sign, or the quote of an f-string; else empty. All tokens have all fields, because a parser reads them all the time. */
  readonly text: string
  readonly sigil: boolean
  /** What a number or a string stands for; else null. */
  readonly value: number | string | null
}

const word = /[\p{ID_Start}_][\p{ID_Continue}]*/uy
const ownSigns = ['**', '//', '==', '!=', '<=', '>=', ...'+-*/%<>()[]{},.:=']
/** The signs by the code of their first character, the longest first. */
const signs: readonly (readonly string[] | undefined)[] = Array.from({ length: 128 }, (_, code) =>
  [...Object.keys(foreignOperators), ...ownSigns]
    .filter((sign) => sign.charCodeAt(0) === code)
    .toSorted((a, b) => b.length - a.length),
)

/** Reads the token at or after the offset; throws a SyntaxFailure for what no expression may hold. */
export function readToken(source: string, from: number): Token {
  let start = from
  while (isBlank(source.charCodeAt(start))) start++
  if (start >= source.length) return tokenOf('end', start, start, '')
  const code = source.charCodeAt(start)
  if (isDigit(code)) {
    const { value, end } = readNumber(source, start)
    return tokenOf('number', start, end, '', false, value)
  }
  if (code === 34 || code === 39) {
    const { value, end } = readString(source, start)
    return tokenOf('string', start, end, '', false, value)
  }
  if (code === 36) return readSigil(source, start)
  const name = readWord(source, start)
  if (name !== null) return afterWord(source, start, name)
  return readSign(source, start)
}

function tokenOf(
  kind: Token['kind'],
  start: number,
  end: number,
  text: string,
  sigil = false,
  value: Token['value'] = null,
): Token {
  return { kind, start, end, text, sigil, value }
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 13 || code === 10 || code === 0xa0
}

function readWord(source: string, start: number): string | null {
  // Most words are ASCII, and need no table of letters.
  let end = start
  while (isAsciiLetter(source.charCodeAt(end)) || (end > start && isDigit(source.charCodeAt(end)))) end++
  // Nothing here, or a letter of another script behind it: the expression decides.
  if (!(source.charCodeAt(end) > 127)) return end === start ? null : source.slice(start, end)
  word.lastIndex = start
  return word.exec(source)?.[0] ?? null
}

function isAsciiLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function afterWord(source: string, start: number, name: string): Token {
  const end = start + name.length
  const quote = source[end]
  if ((quote === '"' || quote === "'") && /^(?:[rbuf]|rb|br|rf|fr)$/i.test(name)) {
    if (name === 'f') return tokenOf('text-start', start, end + 1, quote)
    throw new SyntaxFailure(
      'unsupported_syntax',
      `the string prefix \`${name}\` is not supported; write "text", or f"text {x}" with placeholders`,
      { start, end },
    )
  }
  return tokenOf('name', start, end, name)
}

function readSigil(source: string, start: number): Token {
  const name = readWord(source, start + 1)
  if (name === null) {
    throw new SyntaxFailure('expression_syntax', 'a variable name must follow `$`', { start, end: start + 1 })
  }
  return tokenOf('name', start, start + 1 + name.length, name, true)
}

function readSign(source: string, start: number): Token {
  const sign = signAt(source, start)
  if (sign === undefined) {
    const character = String.fromCodePoint(source.codePointAt(start)!)
    const shown = hiddenCharacter.test(character) ? 'an invisible character' : `\`${character}\``
    throw new SyntaxFailure('expression_syntax', `${shown} cannot stand here`, {
      start,
      end: start + character.length,
    })
  }
  const advice = adviceFor(foreignOperators, sign)
  if (advice === null) return tokenOf('sign', start, start + sign.length, sign)
  const range = { start, end: start + sign.length }
  if (sign === '!' && /^![rsa][}:]/.test(source.slice(start, start + 3))) {
    throw new SyntaxFailure(
      'unsupported_syntax',
      'conversions such as `!r` are not supported; remove it',
      range,
    )
  }
  throw new SyntaxFailure('unsupported_syntax', advice, range)
}

function signAt(source: string, start: number): string | undefined {
  const candidates = signs[source.charCodeAt(start)]
  if (candidates === undefined) return undefined
  // A loop and no `find`: this is done for every second token.
  for (const candidate of candidates)
    if (candidate.length === 1 || source.startsWith(candidate, start)) return candidate
  return undefined
}
