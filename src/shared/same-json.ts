/** Says whether two values are the same JSON; members that are undefined count as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b || Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b)
  if (Array.isArray(b)) return false
  return sameMembers(a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>)
}

function sameItems(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) if (!sameJson(left[index], right[index])) return false
  return true
}

function sameMembers(
  left: Readonly<Record<string, unknown>>,
  right: Readonly<Record<string, unknown>>,
): boolean {
  const names = Object.keys(left)
  let shared = 0
  for (const name of names) {
    const has = Object.hasOwn(right, name)
    if (!sameJson(left[name], has ? right[name] : undefined)) return false
    if (has) shared++
  }
  const others = Object.keys(right)
  // Where every member was met already, none is left to look at.
  return (
    others.length === shared || others.every((name) => right[name] === undefined || Object.hasOwn(left, name))
  )
}
