import type { Link } from './link-modules.ts'
import { folderOf, isTest } from './source-tree.ts'
import type { Violation } from './violation.ts'

/** No folder is reached again from itself. The table alone would not show a ring through app.ts. */
export function checkFolderCycles(links: readonly Link[]): Violation[] {
  const edges = new Map<string, Map<string, Link>>()
  for (const link of links) {
    if (link.to.kind !== 'file' || isTest(link.from)) continue
    const [from, to] = [folderOf(link.from), folderOf(link.to.file)]
    if (from === to) continue
    const targets = edges.get(from) ?? new Map<string, Link>()
    if (!targets.has(to)) targets.set(to, link)
    edges.set(from, targets)
  }
  return [...edges.keys()].flatMap((start) => {
    const way = wayBack(start, start, edges, new Set())
    if (way === null) return []
    const first = edges.get(start)!.get(way[0]!)!
    const message = `folders in a ring: ${[start, ...way].join(' → ')}`
    return [{ rule: 'cycle' as const, file: first.from, line: first.line, message }]
  })
}

function wayBack(
  from: string,
  start: string,
  edges: ReadonlyMap<string, ReadonlyMap<string, Link>>,
  seen: Set<string>,
): string[] | null {
  for (const next of edges.get(from)?.keys() ?? []) {
    if (next === start) return [next]
    if (seen.has(next)) continue
    seen.add(next)
    const rest = wayBack(next, start, edges, seen)
    if (rest !== null) return [next, ...rest]
  }
  return null
}
