/**
 * Owns: that checking a value against a schema ends. Talks to: nobody.
 * Invariants:
 * 1. A schema that refers to itself without looking deeper into the value is refused: it would never end.
 * 2. Otherwise, values nested no deeper than `deepest` are checked in bounded time, however references multiply.
 */
import { applicators } from './check-json-schema.ts'
import { type Json, type JsonObject, isJsonObject } from './json.ts'

/** How deep a value may be for the schema to be affordable, or why no value is. */
export type SchemaCost = { readonly deepest: number } | { readonly refused: string }

const most = 100_000
const deepestAllowed = 128

type Kind = 'object' | 'array'

type Node = {
  /** Schemas that judge the same value. */
  readonly inPlace: Node[]
  /** Schemas that judge a part of an object or list, in groups of which only one judges any one part. */
  readonly parts: Record<Kind, Node[][]>
  /** The judgements that a value of each kind can lead to, worked out level by level. */
  readonly cost: Record<Kind, number>
}

/** Works out what a well-formed schema may cost. */
export function schemaCost(root: Json): SchemaCost {
  const nodes = new Map<Json, Node>()
  const targets = referenceTargets(root)
  let unresolved: string | null = null

  const nodeOf = (schema: Json): Node => {
    const known = nodes.get(schema)
    if (known !== undefined) return known
    const node: Node = { inPlace: [], parts: { object: [], array: [] }, cost: { object: 1, array: 1 } }
    nodes.set(schema, node)
    if (!isJsonObject(schema)) return node
    const { $ref } = schema
    if (typeof $ref === 'string') {
      const target = targets.get($ref)
      if (target === undefined) unresolved ??= $ref
      else node.inPlace.push(nodeOf(target))
    }
    const held = (key: string) => heldSchemas(key, schema[key]).map(nodeOf)
    for (const [key, applicator] of applicators) if (applicator.inPlace) node.inPlace.push(...held(key))
    node.parts.object.push(
      [...held('properties'), ...held('additionalProperties')],
      held('unevaluatedProperties'),
      held('propertyNames'),
      // Two patterns may match one name.
      ...held('patternProperties').map((each) => [each]),
    )
    node.parts.array.push(
      [...held('prefixItems'), ...held('items')],
      held('contains'),
      held('unevaluatedItems'),
    )
    return node
  }

  const start = nodeOf(root)
  if (unresolved !== null)
    return { refused: `\`$ref\` points to "${unresolved}", which is not in the schema` }
  const order = innermostFirst([...nodes.values()])
  if (order === null) return { refused: 'it refers to itself without looking deeper into the value' }
  return { deepest: deepestAffordable(start, order) }
}

/** The depth of value up to which the judgements on any one way down stay affordable. */
function deepestAffordable(start: Node, order: readonly Node[]): number {
  let below: ReadonlyMap<Node, number> | null = null
  for (let depth = 0; depth <= deepestAllowed; depth++) {
    let changed = below === null
    for (const node of order) {
      for (const kind of ['object', 'array'] as const) {
        const parts = below === null ? 0 : sum(node.parts[kind].map((group) => dearest(group, below!)))
        const cost = Math.min(
          1 + sum(node.inPlace.map((each) => each.cost[kind])) + parts,
          Number.MAX_SAFE_INTEGER,
        )
        changed ||= cost !== node.cost[kind]
        node.cost[kind] = cost
      }
    }
    if (worst(start) > most) return depth - 1
    // A schema that does not nest itself costs no more for deeper values.
    if (!changed) return deepestAllowed
    below = new Map(order.map((node) => [node, worst(node)]))
  }
  return deepestAllowed
}

function worst(node: Node): number {
  return Math.max(node.cost.object, node.cost.array)
}

function dearest(group: readonly Node[], costs: ReadonlyMap<Node, number>): number {
  return group.reduce((dearest, part) => Math.max(dearest, costs.get(part)!), 0)
}

/** The schemas ordered so that what judges a value in place comes before what asks it to; null if it asks itself. */
function innermostFirst(nodes: readonly Node[]): Node[] | null {
  const done = new Set<Node>()
  const open = new Set<Node>()
  const visit = (node: Node): boolean => {
    if (done.has(node)) return true
    if (open.has(node)) return false
    open.add(node)
    const ends = node.inPlace.every(visit)
    open.delete(node)
    done.add(node)
    return ends
  }
  return nodes.every(visit) ? [...done] : null
}

/** What each local reference can point to: places by pointer, and anchors. */
function referenceTargets(root: Json): Map<string, Json> {
  const targets = new Map<string, Json>()
  const visit = (schema: Json, pointer: string): void => {
    targets.set(pointer, schema)
    if (!isJsonObject(schema)) return
    if (typeof schema['$anchor'] === 'string') targets.set(`#${schema['$anchor']}`, schema)
    for (const [key, value] of Object.entries(schema)) {
      const holds = applicators.get(key)?.holds
      if (holds === 'one') visit(value, `${pointer}/${key}`)
      else if (holds !== undefined) {
        for (const [name, item] of Object.entries(value as JsonObject))
          visit(item, `${pointer}/${key}/${escape(name)}`)
      }
    }
  }
  visit(root, '#')
  return targets
}

function heldSchemas(key: string, value: Json | undefined): readonly Json[] {
  if (value === undefined) return []
  if (applicators.get(key)?.holds === 'one') return [value]
  return Array.isArray(value) ? value : Object.values(value as JsonObject)
}

function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function sum(numbers: readonly number[]): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
