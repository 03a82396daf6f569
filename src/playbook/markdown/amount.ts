import { withoutInner } from './without-inner.ts'

/** Digits with dots and commas among them, perhaps behind the sign of a currency. */
const written = /(?<![\p{L}\p{N}_.,$€£])[$€£]?\d(?:[\d.,]*\d)?/gu
const amount = /^[$€£]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/
const number = /^\d+(?:\.\d+)?$/

/**
 * The text with amounts as the expression language writes them: `1,000.00` is 1000.00, `$20` is 20. It is as long as before, so that offsets
 * hold. What stands in quotes or brackets stays: a comma there is one between values.
 */
export function plainAmounts(text: string): string {
  let plain = text
  for (const { 0: found, index } of withoutInner(text).matchAll(written)) {
    if (number.test(found) || !amount.test(found)) continue
    const digits = found.replace(/[$€£,]/g, '').padEnd(found.length)
    plain = plain.slice(0, index) + digits + plain.slice(index + found.length)
  }
  return plain
}

/** The first amount that is none, such as `1.000,50` or `1,00`; null where there is none. */
export function oddAmount(text: string): { readonly text: string; readonly start: number } | null {
  for (const { 0: found, index } of withoutInner(text).matchAll(written))
    if (!amount.test(found)) return { text: found, start: index }
  return null
}
