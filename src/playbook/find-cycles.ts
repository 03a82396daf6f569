/**
 * The circles in a graph, each as positions in walking order, beginning with its smallest; circles that share a
 * member are reported once. `edges[i]` lists where position `i` leads.
 */
export function findCycles(edges: readonly (readonly number[])[]): number[][] {
  const cycles: number[][] = []
  let left = new Set(edges.keys())
  for (;;) {
    left = peel(left, edges)
    const start = left.values().next().value
    if (start === undefined) return cycles
    const cycle = walkToCycle(start, left, edges)
    cycles.push(fromSmallest(cycle))
    for (const position of cycle) left.delete(position)
  }
}

/** Walks on from a position until it meets itself; everything left leads on inside what is left, so it must. */
function walkToCycle(
  start: number,
  left: ReadonlySet<number>,
  edges: readonly (readonly number[])[],
): number[] {
  const seen = new Map<number, number>()
  const walk: number[] = []
  let at = start
  while (!seen.has(at)) {
    seen.set(at, walk.length)
    walk.push(at)
    at = edges[at]!.find((next) => left.has(next))!
  }
  return walk.slice(seen.get(at))
}

/** What remains when positions that lead nowhere are taken away, again and again. */
function peel(among: ReadonlySet<number>, edges: readonly (readonly number[])[]): Set<number> {
  const left = new Set(among)
  const onward = new Map<number, number>()
  const backward = new Map<number, number[]>()
  for (const position of left) {
    const nexts = edges[position]!.filter((next) => left.has(next))
    onward.set(position, nexts.length)
    for (const next of nexts) {
      const sources = backward.get(next)
      if (sources === undefined) backward.set(next, [position])
      else sources.push(position)
    }
  }
  const waiting = [...left].filter((position) => onward.get(position) === 0)
  while (waiting.length > 0) {
    const position = waiting.pop()!
    left.delete(position)
    for (const source of backward.get(position) ?? []) {
      const count = onward.get(source)! - 1
      onward.set(source, count)
      if (count === 0) waiting.push(source)
    }
  }
  return left
}

function fromSmallest(cycle: readonly number[]): number[] {
  const at = cycle.indexOf(Math.min(...cycle))
  return [...cycle.slice(at), ...cycle.slice(0, at)]
}
