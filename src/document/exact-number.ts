/**
 * Says whether a decimal number, read as a double and written again, is still the same number. `1.10` and `1e3` are;
 * `12345678901234567890` and `1e400` are not, and would silently become something else.
 */
export function isExactNumber(literal: string): boolean {
  if (/^[-+]?0[xo]/i.test(literal)) {
    const digits = literal.replace(/^[-+]/, '')
    return BigInt(digits) <= BigInt(Number.MAX_SAFE_INTEGER)
  }
  const value = Number(literal)
  return Number.isFinite(value) && sameDecimal(literal, String(value))
}

function sameDecimal(one: string, other: string): boolean {
  const [digits, exponent] = normalise(one)
  const [otherDigits, otherExponent] = normalise(other)
  return digits === otherDigits && (digits === '' || exponent === otherExponent)
}

/** The significant digits, and the power of ten of the last one; the sign never gets lost, so it is left out. */
function normalise(literal: string): [digits: string, exponent: number] {
  const [mantissa = '', power = '0'] = literal.toLowerCase().replace(/^[-+]/, '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  const significant = all.replace(/0+$/, '')
  const exponent = Number(power) - fraction.length + (all.length - significant.length)
  return [significant.replace(/^0+/, ''), exponent]
}
