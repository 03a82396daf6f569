/** A node of the syntax tree, as far as the rules look at it. */
export type Node = { readonly type: string; readonly start: number; readonly [key: string]: unknown }

/** Visits every node of the tree with its parent and the parent's key that leads to it. */
export function walk(
  node: Node,
  visit: (node: Node, parent: Node | null, key: string) => void,
  parent: Node | null = null,
  key = '',
): void {
  visit(node, parent, key)
  for (const [childKey, child] of Object.entries(node)) {
    for (const each of Array.isArray(child) ? child : [child]) {
      if (isNode(each)) walk(each, visit, node, childKey)
    }
  }
}

/** The line, counted from one, of a position in the text. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}
