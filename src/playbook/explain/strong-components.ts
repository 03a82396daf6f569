/**
 * The positions of a graph in groups that lead to each other, each group after those it leads to. `edges[i]` lists where
 * position `i` leads. Takes time in proportion to the graph, and no stack however long its chains are.
 */
export function strongComponents(edges: readonly (readonly number[])[]): number[][] {
  const order: (number | undefined)[] = edges.map(() => undefined)
  const lowest: number[] = edges.map(() => 0)
  const grouped = new Set<number>()
  const open: number[] = []
  const groups: number[][] = []
  let visits = 0
  for (const start of edges.keys()) {
    if (order[start] !== undefined) continue
    const walk = [{ at: start, next: 0 }]
    while (walk.length > 0) {
      const here = walk.at(-1)!
      if (order[here.at] === undefined) {
        order[here.at] = lowest[here.at] = visits++
        open.push(here.at)
      }
      const to = edges[here.at]![here.next++]
      if (to === undefined) {
        walk.pop()
        const parent = walk.at(-1)
        if (parent !== undefined) lowest[parent.at] = Math.min(lowest[parent.at]!, lowest[here.at]!)
        if (lowest[here.at] !== order[here.at]) continue
        const group = open.splice(open.lastIndexOf(here.at))
        for (const member of group) grouped.add(member)
        groups.push(group)
      } else if (order[to] === undefined) walk.push({ at: to, next: 0 })
      else if (!grouped.has(to)) lowest[here.at] = Math.min(lowest[here.at]!, order[to])
    }
  }
  return groups
}
