/** A line of two texts: in both, only in the second, or only in the first. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** How many differences are looked for; texts that differ more are told as one replaced by the other. */
const mostDifferences = 2000

/**
 * What to take out of one text and put into it to get another, line by line, with as few of both as there can be (Myers, "An O(ND) difference algorithm").
 * Joining what is not added gives the first text, what is not removed the second.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const [one, two] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < one.length && head < two.length && one[head] === two[head]) head++
  let tail = 0
  while (
    tail < one.length - head &&
    tail < two.length - head &&
    one[one.length - 1 - tail] === two[two.length - 1 - tail]
  )
    tail++
  const [left, right] = [one.slice(head, one.length - tail), two.slice(head, two.length - tail)]
  return [
    ...as('same', one.slice(0, head)),
    ...(middle(left, right) ?? [...as('removed', left), ...as('added', right)]),
    ...as('same', one.slice(one.length - tail)),
  ]
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

function as(kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }))
}

/** The shortest way from one list to the other; null if it is longer than is looked for. */
function middle(one: readonly string[], two: readonly string[]): DiffLine[] | null {
  if (one.length === 0) return as('added', two)
  if (two.length === 0) return as('removed', one)
  const most = Math.min(one.length + two.length, mostDifferences)
  // Of each diagonal, how far down the first list its best way comes; one row for each number of differences.
  const rows: Int32Array[] = []
  const furthest = new Int32Array(2 * most + 3).fill(-1)
  furthest[most + 2] = 0
  for (let differences = 0; differences <= most; differences++) {
    for (let k = -differences; k <= differences; k += 2) {
      const at = k + most + 1
      const down = k === -differences || (k !== differences && furthest[at - 1]! < furthest[at + 1]!)
      let x = down ? furthest[at + 1]! : furthest[at - 1]! + 1
      while (x < one.length && x - k < two.length && x - k >= 0 && one[x] === two[x - k]) x++
      furthest[at] = x
      if (x >= one.length && x - k >= two.length) return walkBack(one, two, rows, differences)
    }
    rows.push(furthest.slice(most + 1 - differences - 1, most + 1 + differences + 2))
  }
  return null
}

function walkBack(
  one: readonly string[],
  two: readonly string[],
  rows: readonly Int32Array[],
  differences: number,
): DiffLine[] {
  const found: DiffLine[] = []
  let [x, y] = [one.length, two.length]
  for (let d = differences; d > 0; d--) {
    const row = rows[d - 1]!
    // Row d-1 holds the diagonals from -d to d.
    const far = (k: number) => row[k + d] ?? -1
    const k = x - y
    const down = k === -d || (k !== d && far(k - 1) < far(k + 1))
    const before = down ? k + 1 : k - 1
    const fromX = far(before)
    // What is the same comes after the difference.
    const begin = down ? fromX : fromX + 1
    while (x > begin) {
      found.push({ kind: 'same', text: one[--x]! })
      y--
    }
    if (down) found.push({ kind: 'added', text: two[--y]! })
    else found.push({ kind: 'removed', text: one[--x]! })
  }
  while (x > 0) found.push({ kind: 'same', text: one[--x]! })
  return found.toReversed()
}
