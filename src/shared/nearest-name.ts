/** The known name closest to the given one, if it is close enough to be what was meant; else null. */
export function nearestName(given: string, known: Iterable<string>): string | null {
  const wanted = given.toLowerCase()
  const limit = Math.max(1, Math.floor(given.length / 3))
  let best: string | null = null
  let bestDistance = limit + 1
  for (const name of known) {
    if (Math.abs(name.length - given.length) >= bestDistance) continue
    const distance = editDistance(wanted, name.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

/** Edits (insert, delete, replace, swap of neighbours) between two words, given up on once it reaches the limit. */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let smallest = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1)
      }
      row.push(cost)
      smallest = Math.min(smallest, cost)
    }
    if (smallest >= limit) return limit
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
