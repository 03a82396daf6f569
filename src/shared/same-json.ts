/** Says whether two values are the same JSON; members that are undefined count as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, index) => sameJson(item, b[index]))
  }
  const left = a as Readonly<Record<string, unknown>>
  const right = b as Readonly<Record<string, unknown>>
  for (const key of Object.keys(left)) {
    const other = Object.hasOwn(right, key) ? right[key] : undefined
    if (!sameJson(left[key], other)) return false
  }
  return Object.keys(right).every((key) => right[key] === undefined || Object.hasOwn(left, key))
}
