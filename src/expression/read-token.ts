import { hiddenCharacter, readString } from './read-string.ts'
import { readNumber } from './read-number.ts'
import { SyntaxFailure } from './syntax-failure.ts'
import { adviceFor, foreignOperators } from './foreign-syntax.ts'

/** One word, sign or literal of the source. An f-string token covers its opening quote only. */
export type Token = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'text-start'; readonly quote: string }
  | { readonly kind: 'name'; readonly name: string; readonly sigil: boolean }
  | { readonly kind: 'sign'; readonly sign: string }
  | { readonly kind: 'end' }
)

const word = /[\p{ID_Start}_][\p{ID_Continue}]*/uy
const ownSigns = ['**', '//', '==', '!=', '<=', '>=', ...'+-*/%<>()[]{},.:=']
/** The signs by their first character, the longest first. */
const signs: ReadonlyMap<string, readonly string[]> = Map.groupBy(
  [...Object.keys(foreignOperators), ...ownSigns].toSorted((a, b) => b.length - a.length),
  (sign) => sign[0]!,
)

/** Reads the token at or after the offset; throws a SyntaxFailure for what no expression may hold. */
export function readToken(source: string, from: number): Token {
  let start = from
  while (isBlank(source.charCodeAt(start))) start++
  const character = source[start]
  if (character === undefined) return { kind: 'end', start, end: start }
  if (character >= '0' && character <= '9') return { kind: 'number', start, ...readNumber(source, start) }
  if (character === '"' || character === "'") return { kind: 'string', start, ...readString(source, start) }
  if (character === '$') return readSigil(source, start)
  const name = readWord(source, start)
  if (name !== null) return afterWord(source, start, name)
  return readSign(source, start)
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
    if (name === 'f') return { kind: 'text-start', quote, start, end: end + 1 }
    throw new SyntaxFailure(
      'unsupported_syntax',
      `the string prefix \`${name}\` is not supported; write "text", or f"text {x}" with placeholders`,
      { start, end },
    )
  }
  return { kind: 'name', name, sigil: false, start, end }
}

function readSigil(source: string, start: number): Token {
  const name = readWord(source, start + 1)
  if (name === null) {
    throw new SyntaxFailure('expression_syntax', 'a variable name must follow `$`', { start, end: start + 1 })
  }
  return { kind: 'name', name, sigil: true, start, end: start + 1 + name.length }
}

function readSign(source: string, start: number): Token {
  const sign = signs.get(source[start]!)?.find((candidate) => source.startsWith(candidate, start))
  if (sign === undefined) {
    const character = String.fromCodePoint(source.codePointAt(start)!)
    const shown = hiddenCharacter.test(character) ? 'an invisible character' : `\`${character}\``
    throw new SyntaxFailure('expression_syntax', `${shown} cannot stand here`, {
      start,
      end: start + character.length,
    })
  }
  const range = { start, end: start + sign.length }
  if (sign === '!' && /^![rsa][}:]/.test(source.slice(start, start + 3))) {
    throw new SyntaxFailure(
      'unsupported_syntax',
      'conversions such as `!r` are not supported; remove it',
      range,
    )
  }
  const advice = adviceFor(foreignOperators, sign)
  if (advice !== null) throw new SyntaxFailure('unsupported_syntax', advice, range)
  return { kind: 'sign', sign, ...range }
}
