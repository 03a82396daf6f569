/** Enough digits to show the exact value of any double that can be halfway between two roundings. */
const exactDigits = 100

/**
 * The number with that many digits after the dot, as text, ties going to the even digit as in Python. Works on the
 * exact decimal value of the double, so that 2.675 gives 2.67.
 */
export function fixedText(value: number, digits: number): string {
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}${digits > 0 ? `.${'0'.repeat(digits)}` : ''}`
  const rounded = value.toFixed(digits)
  const exact = Math.abs(value).toFixed(exactDigits)
  const cut = exact.length - exactDigits + digits
  if (!/^50*$/.test(exact.slice(cut))) return rounded
  const kept = exact.slice(0, digits === 0 ? cut - 1 : cut)
  const isEven = Number(kept.at(-1)) % 2 === 0
  // toFixed sends a tie away from zero, so only an even digit needs to be put back.
  return isEven ? (value < 0 ? '-' : '') + kept : rounded
}

/** Rounds to that many digits, which may be negative; ties go to the even digit. */
export function roundNumber(value: number, digits: number): number {
  if (digits >= 0) return Number(fixedText(value, digits))
  const unit = 10 ** -digits
  const low = Math.floor(value / unit)
  const rest = value - low * unit
  const isUp = rest > unit / 2 || (rest === unit / 2 && low % 2 !== 0)
  return (isUp ? low + 1 : low) * unit
}
