import { SyntaxFailure } from './syntax-failure.ts'

const simpleEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
}
const codeEscapes: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** Characters that hide or reorder what a reader sees; in a string they must be written as escapes. */
export const hiddenCharacter =
  // oxlint-disable-next-line no-control-regex -- these are the characters that are looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/

/** Reads the quoted string whose opening quote is at the offset. */
export function readString(source: string, start: number): { value: string; end: number } {
  const quote = source[start]!
  if (source.startsWith(quote.repeat(3), start)) {
    throw new SyntaxFailure(
      'unsupported_syntax',
      `triple quotes are not supported; write one ${quote} and \\n for a line break`,
      { start, end: start + 3 },
    )
  }
  let value = ''
  let at = start + 1
  for (;;) {
    const plain = plainEnd(source, at)
    if (plain > at) value += source.slice(at, plain)
    at = plain
    const character = source[at]
    if (character === undefined) {
      throw new SyntaxFailure('expression_syntax', `the string has no closing ${quote}`, {
        start,
        end: source.length,
      })
    }
    if (character === quote) break
    const piece = readCharacter(source, at)
    value += piece.value
    at = piece.end
  }
  checkWellFormed(value, start, at + 1)
  return { value, end: at + 1 }
}

/** Where the letters, digits and signs of ASCII end that always stand for themselves: neither quotes nor escapes nor braces. */
export function plainEnd(source: string, from: number): number {
  let at = from
  while (isPlain(source.charCodeAt(at))) at++
  return at
}

function isPlain(code: number): boolean {
  return code >= 32 && code < 123 && code !== 34 && code !== 39 && code !== 92
}

/** Reads one character or escape of a string at the offset. */
export function readCharacter(source: string, at: number): { value: string; end: number } {
  const character = source[at]!
  if (character !== '\\') {
    if (character === '\n' || character === '\r') {
      throw new SyntaxFailure('expression_syntax', 'a string cannot span lines; write \\n for a line break', {
        start: at,
        end: at + 1,
      })
    }
    if (hiddenCharacter.test(character)) {
      const code = character.charCodeAt(0).toString(16).padStart(4, '0')
      throw new SyntaxFailure('expression_syntax', `an invisible character must be written as \\u${code}`, {
        start: at,
        end: at + 1,
      })
    }
    return { value: character, end: at + 1 }
  }
  const letter = source[at + 1] ?? ''
  if (Object.hasOwn(simpleEscapes, letter)) return { value: simpleEscapes[letter]!, end: at + 2 }
  const digits = Object.hasOwn(codeEscapes, letter) ? codeEscapes[letter]! : 0
  const hex = source.slice(at + 2, at + 2 + digits)
  const code =
    digits > 0 && hex.length === digits && /^[0-9a-fA-F]+$/.test(hex) ? Number.parseInt(hex, 16) : -1
  if (code < 0 || code > 0x10ffff) {
    throw new SyntaxFailure(
      'expression_syntax',
      `\`\\${letter}\` is not an escape; there are \\n \\t \\r \\\\ \\' \\" \\xHH \\uHHHH \\UHHHHHHHH`,
      { start: at, end: Math.min(at + 2, source.length) },
    )
  }
  return { value: String.fromCodePoint(code), end: at + 2 + digits }
}

/** Refuses text with half a surrogate pair, which no JSON document can carry faithfully. */
export function checkWellFormed(value: string, start: number, end: number): void {
  if (!value.isWellFormed()) {
    throw new SyntaxFailure('expression_syntax', 'the string holds half of a surrogate pair', { start, end })
  }
}
