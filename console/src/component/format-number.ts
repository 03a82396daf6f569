const counts = new Intl.NumberFormat('en')
const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' })
const fractions = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
})

/** A whole number with its thousands apart. */
export function formatCount(value: number): string {
  return counts.format(value)
}

/** Dollars; small amounts keep two digits that say something, and an unknown price is a dash. */
export function formatCost(value: number | null): string {
  if (value === null) return '–'
  return value !== 0 && value < 0.01 ? fractions.format(value) : dollars.format(value)
}

/** A share of a whole in percent; a dash where there is no whole. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? '–' : `${Math.round((100 * part) / whole)} %`
}
