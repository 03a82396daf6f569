/** Whether a text becomes another short one in so many edits: insert, delete, replace, swap neighbours. Most texts are given up early. */
export function isWithinEdits(a: string, b: string, limit: number): boolean {
  if (Math.abs(a.length - b.length) > limit) return false
  let beforeLast: number[] = []
  let last: number[] = []
  for (let j = 0; j <= b.length; j++) last.push(j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let smallest = i
    for (let j = 1; j <= b.length; j++) {
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1)
      row.push(cost)
      if (cost < smallest) smallest = cost
    }
    if (smallest > limit) return false
    beforeLast = last
    last = row
  }
  return last[b.length]! <= limit
}
