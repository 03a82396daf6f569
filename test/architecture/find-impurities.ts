import { lineAt, walk, type Node } from './walk.ts'

/** A name in the code that reaches the machine it runs on. */
export type Impurity = { readonly name: string; readonly line: number }

const clocks = ['Date', 'Temporal', 'performance']
const timers = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
]
const wakers = [
  'queueMicrotask',
  'requestAnimationFrame',
  'requestIdleCallback',
  'AbortSignal',
  'AbortController',
]
const chance = ['crypto', 'WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer', 'Worker']
const platform = [
  'process',
  'Buffer',
  'console',
  '__dirname',
  '__filename',
  'navigator',
  'Intl',
  'WebAssembly',
]
const network = ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource']
const storage = ['localStorage', 'sessionStorage', 'indexedDB']
const waysToAll = ['globalThis', 'global', 'window', 'self', 'eval', 'Function']

/**
 * Global names the pure core does without. Even a local variable may not bear one: then nobody has to work out
 * which of the two is meant.
 */
const machineNames = new Set([
  ...clocks,
  ...timers,
  ...wakers,
  ...chance,
  ...platform,
  ...network,
  ...storage,
  ...waysToAll,
])

/** How the names of methods begin whose answer depends on the language settings of the machine. */
const localeMethod = /^(?:toLocale|localeCompare$)/

/** Keys under which a node holds a mere label instead of a reference to a variable. */
const labels: Readonly<Record<string, readonly string[]>> = {
  ImportSpecifier: ['imported'],
  ExportSpecifier: ['exported'],
  LabeledStatement: ['label'],
  BreakStatement: ['label'],
  ContinueStatement: ['label'],
  TSQualifiedName: ['right'],
  TSNamedTupleMember: ['label'],
  MetaProperty: ['meta', 'property'],
}

/** Finds every clock, timer, platform, randomness and locale the code mentions. */
export function findImpurities(root: Node, text: string): Impurity[] {
  const found: Impurity[] = []
  walk(root, (node, parent, key) => {
    const name = impureName(node, parent, key)
    if (name !== null) found.push({ name, line: lineAt(text, node.start) })
  })
  return found
}

function impureName(node: Node, parent: Node | null, key: string): string | null {
  if (node.type === 'MetaProperty') return (node['meta'] as Node)['name'] === 'import' ? 'import.meta' : null
  if (node.type === 'MemberExpression') {
    const member = memberName(node)
    return member !== null && localeMethod.test(member) ? member : null
  }
  if (node.type !== 'Identifier' || isLabel(parent, key)) return null
  const name = node['name'] as string
  if (name === 'Math') return mathUse(parent, key)
  return machineNames.has(name) ? name : null
}

/** `Math.max` is fine; `Math.random`, and `Math` itself handed on, are not. */
function mathUse(parent: Node | null, key: string): string | null {
  const member = parent?.type === 'MemberExpression' && key === 'object' ? memberName(parent) : null
  if (member === null) return 'Math as a value'
  return member === 'random' ? 'Math.random' : null
}

function memberName(node: Node): string | null {
  const property = node['property'] as Node
  if (node['computed'] !== true) return property['name'] as string
  return property.type === 'Literal' && typeof property['value'] === 'string' ? property['value'] : null
}

function isLabel(parent: Node | null, key: string): boolean {
  if (parent === null) return false
  if (parent['computed'] === false && (key === 'key' || key === 'property')) return true
  return labels[parent.type]?.includes(key) ?? false
}
