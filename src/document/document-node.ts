import type { Json } from '../shared/json.ts'
import type { DocumentPath } from './diagnostic.ts'

/** A stretch of text as offsets; the end is exclusive. */
export type Span = { readonly start: number; readonly end: number }

/** A value of a document together with where it was written. */
export type DocumentNode =
  | {
      readonly kind: 'scalar'
      readonly value: null | boolean | number | string
      readonly span: Span
      /** Where the characters of a string begin, if they stand in the text exactly as in the value; else null. */
      readonly verbatimAt: number | null
    }
  | { readonly kind: 'list'; readonly items: readonly DocumentNode[]; readonly span: Span }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, MapEntry>; readonly span: Span }

/** A member of a mapping: where its key stands, and its value. */
export type MapEntry = { readonly key: Span; readonly value: DocumentNode }

/** The plain value of the node, sharing nothing with it; objects have no prototype, so that every key is just a key. */
export function nodeValue(node: DocumentNode): Json {
  switch (node.kind) {
    case 'scalar':
      return node.value
    case 'list':
      return node.items.map(nodeValue)
    case 'map': {
      const object: Record<string, Json> = Object.create(null)
      for (const [key, entry] of node.entries) object[key] = nodeValue(entry.value)
      return object
    }
  }
}

/** The span of what lies at the path, or of the closest thing around it that was written down. */
export function spanAt(root: DocumentNode, path: DocumentPath, at: 'key' | 'value'): Span {
  let node = root
  let key: Span | null = null
  for (const step of path) {
    const entry: MapEntry | undefined = node.kind === 'map' ? node.entries.get(String(step)) : undefined
    const next: DocumentNode | undefined =
      node.kind === 'list' && typeof step === 'number' ? node.items[step] : entry?.value
    if (next === undefined) return headOf(node)
    key = entry?.key ?? null
    node = next
  }
  return at === 'key' && key !== null ? key : headOf(node)
}

/** The node at the path, if there is one. */
export function nodeAt(root: DocumentNode, path: DocumentPath): DocumentNode | null {
  let node: DocumentNode | undefined = root
  for (const step of path) {
    if (node?.kind === 'list' && typeof step === 'number') node = node.items[step]
    else if (node?.kind === 'map') node = node.entries.get(String(step))?.value
    else return null
  }
  return node ?? null
}

/** What to mark for a node: a mapping is shown by its first key, since marking all of it would mark half the file. */
function headOf(node: DocumentNode): Span {
  if (node.kind !== 'map') return node.span
  for (const entry of node.entries.values()) return entry.key.start >= node.span.start ? entry.key : node.span
  return node.span
}
