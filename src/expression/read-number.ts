import { SyntaxFailure } from './syntax-failure.ts'

const numeral = /(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const glued = /[\p{ID_Continue}$.]+/uy

/** Reads the number that starts at the offset; refuses other spellings and numbers that a double cannot keep. */
export function readNumber(source: string, start: number): { value: number; end: number } {
  return readWhole(source, start) ?? readAny(source, start)
}

/** More digits may be more than a double keeps. */
const mostDigits = 15

/** A whole number of a few digits and nothing behind it that could belong to it, which is what most numbers are; else null. */
function readWhole(source: string, start: number): { value: number; end: number } | null {
  let value = 0
  let end = start
  for (; end - start <= mostDigits; end++) {
    const digit = source.charCodeAt(end) - 48
    if (!(digit >= 0 && digit <= 9)) break
    value = value * 10 + digit
  }
  const isLong = end - start > mostDigits || (source.charCodeAt(start) === 48 && end > start + 1)
  return isLong || !endsHere(source.charCodeAt(end)) ? null : { value, end }
}

/** The end of the text, or a sign or blank of ASCII that is no part of a number or name. */
function endsHere(code: number): boolean {
  if (Number.isNaN(code)) return true
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
  return code < 128 && !isLetter && code !== 46 && code !== 36
}

function readAny(source: string, start: number): { value: number; end: number } {
  numeral.lastIndex = start
  const text = numeral.exec(source)?.[0] ?? ''
  const end = start + text.length
  glued.lastIndex = end
  const rest = glued.exec(source)?.[0]
  if (rest !== undefined || text === '') {
    const written = text + (rest ?? '')
    const range = { start, end: start + written.length }
    throw new SyntaxFailure(
      'unsupported_syntax',
      `\`${written}\` is not a number: ${adviceOn(written)}`,
      range,
    )
  }
  const value = Number(text)
  if (!survives(text, value)) {
    const kept = Number.isFinite(value) ? `it would become ${value}` : 'it is too large'
    throw new SyntaxFailure('inexact_number', `the number ${text} cannot be kept exactly: ${kept}`, {
      start,
      end,
    })
  }
  return { value, end }
}

function adviceOn(written: string): string {
  if (written.includes('_')) return 'write its digits without `_`'
  if (/^0[xob]/i.test(written)) return 'write it as a decimal number'
  if (/^0[0-9]/.test(written)) return 'write it without leading zeros'
  if (/^[0-9]+\.$/.test(written)) return 'write a digit after the dot'
  if (/^[0-9.]+n$/.test(written)) return 'write it without `n`'
  return 'write digits, at most one dot, and put other things apart from it'
}

/** A literal survives when the shortest text of its double has the same digits. */
function survives(text: string, value: number): boolean {
  const shortest = String(value)
  return text === shortest || (Number.isFinite(value) && digitsOf(text) === digitsOf(shortest))
}

function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${significant}e${Number(exponent) - fraction.length + (digits.length - significant.length)}`
}
