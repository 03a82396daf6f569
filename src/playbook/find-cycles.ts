/**
 * The circles in a graph, each as positions in walking order, beginning with its smallest; circles that share a
 * member are reported once. `edges[i]` lists where position `i` leads. Takes time in proportion to the graph.
 */
export function findCycles(edges: readonly (readonly number[])[]): number[][] {
  const left = new Set(edges.keys())
  const onward = edges.map((nexts) => nexts.length)
  const backward = edges.map((): number[] => [])
  edges.forEach((nexts, position) => {
    for (const next of nexts) backward[next]!.push(position)
  })
  /** Takes positions away, and then whatever leads nowhere any more. */
  const remove = (positions: readonly number[]): void => {
    const waiting = [...positions]
    for (let position = waiting.pop(); position !== undefined; position = waiting.pop()) {
      if (!left.delete(position)) continue
      for (const source of backward[position]!) {
        onward[source]! -= 1
        if (onward[source] === 0) waiting.push(source)
      }
    }
  }

  const cycles: number[][] = []
  remove([...left].filter((position) => onward[position] === 0))
  for (let start = first(left); start !== undefined; start = first(left)) {
    const cycle = walkToCycle(start, left, edges)
    cycles.push(fromSmallest(cycle))
    remove(cycle)
  }
  return cycles
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

function first(positions: ReadonlySet<number>): number | undefined {
  for (const position of positions) return position
  return undefined
}

function fromSmallest(cycle: readonly number[]): number[] {
  const smallest = cycle.reduce((a, b) => Math.min(a, b))
  const at = cycle.indexOf(smallest)
  return [...cycle.slice(at), ...cycle.slice(0, at)]
}
