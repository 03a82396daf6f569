import type { ExpressionValue } from './expression-value.ts'
import { fixedText } from './round-number.ts'

/** How a placeholder of an f-string prints its value. */
export interface TextFormat {
  readonly fill: string
  readonly align: '<' | '>' | '^' | null
  readonly plus: boolean
  readonly width: number
  readonly commas: boolean
  readonly digits: number | null
  readonly type: 'f' | 'd' | '%' | null
}

const pattern = /^(?:([^{}])?([<>^]))?(\+)?(0)?([0-9]{1,3})?(,)?(?:\.([0-9]{1,2}))?([fd%])?$/u

/** Reads a format such as `,.2f`, `>10` or `05d`; null if it is not one. */
export function parseFormat(text: string): TextFormat | null {
  const match = pattern.exec(text)
  if (match === null) return null
  const [, fill, align, plus, zero, width, comma, digits, type] = match
  const format: TextFormat = {
    fill: fill ?? (zero === undefined ? ' ' : '0'),
    align: (align as TextFormat['align']) ?? null,
    plus: plus !== undefined,
    width: Number(width ?? 0),
    commas: comma !== undefined,
    digits: digits === undefined ? null : Number(digits),
    type: (type as TextFormat['type']) ?? null,
  }
  return Number(digits ?? 0) > 20 || (type === 'd' && digits !== undefined) ? null : format
}

/** Says whether the format makes sense for numbers only. */
export function isNumberFormat(format: TextFormat): boolean {
  return format.type !== null || format.commas || format.plus || format.digits !== null || format.fill === '0'
}

/** Prints a number, or the text of any other value, in that format. */
export function formatValue(value: ExpressionValue, text: string, format: TextFormat): string {
  if (typeof value !== 'number') return pad(text, format, '<')
  const scaled = format.type === '%' ? value * 100 : value
  const digits = format.digits ?? (format.type === 'd' ? 0 : format.type === null ? null : 6)
  const written = digits === null ? String(Math.abs(scaled)) : fixedText(Math.abs(scaled), digits)
  const sign = scaled < 0 ? '-' : format.plus ? '+' : ''
  const body = (format.commas ? withCommas(written) : written) + (format.type === '%' ? '%' : '')
  // Zeros go between the sign and the digits: -0005, not 000-5.
  if (format.fill === '0' && format.align === null)
    return sign + body.padStart(format.width - sign.length, '0')
  return pad(sign + body, format, '>')
}

function withCommas(digits: string): string {
  const [whole = '', ...fraction] = digits.split('.')
  return [whole.replace(/\B(?=([0-9]{3})+$)/g, ','), ...fraction].join('.')
}

function pad(text: string, format: TextFormat, usual: '<' | '>'): string {
  const missing = format.width - Array.from(text).length
  if (missing <= 0) return text
  const align = format.align ?? usual
  const before = align === '>' ? missing : align === '<' ? 0 : missing >> 1
  return format.fill.repeat(before) + text + format.fill.repeat(missing - before)
}
