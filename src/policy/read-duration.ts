const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** The seconds of a duration such as `15m`; null for any other text. */
export function readDuration(text: string): number | null {
  const found = /^([1-9]\d{0,5})([smhd])$/.exec(text)
  return found === null ? null : Number(found[1]) * units[found[2]!]!
}
