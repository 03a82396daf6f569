import type { Json } from './json.ts'
import { knownJson, type KnownJson } from './known-json.ts'

/** A value read as JSON, or why it is none. */
export type JsonReading = { readonly value: Json; readonly problem: null } | { readonly problem: string }

/** How much JSON is read. */
export interface JsonLimits {
  readonly depth: number
  readonly nodes: number
  readonly text: number
}

const wholeLimits: JsonLimits = { depth: 64, nodes: 100_000, text: 10_000_000 }

/** For what becomes a part of a fact: it leaves room for what stands around it, so that the fact can always be written down. */
export const partLimits: JsonLimits = { depth: 56, nodes: 90_000, text: 9_000_000 }

/**
 * Copies a value from outside into plain, frozen JSON, so that nobody can change it afterwards. What JSON cannot hold is
 * refused, not bent; members that are undefined are left out, as JSON does.
 */
export function toJson(value: unknown, limits: JsonLimits = wholeLimits): JsonReading {
  const budget = { nodes: limits.nodes, text: limits.text, limits }
  try {
    return { value: copy(value, 0, budget), problem: null }
  } catch (error) {
    if (error instanceof NotJson) return { problem: error.message }
    // A getter or a proxy threw: whatever this is, it is not JSON.
    return { problem: 'it cannot be read' }
  }
}

class NotJson extends Error {}

interface Budget {
  nodes: number
  text: number
  readonly limits: JsonLimits
}

function copy(value: unknown, depth: number, budget: Budget): Json {
  if (--budget.nodes < 0) throw tooMany(budget)
  switch (typeof value) {
    case 'string':
      return measured(value, budget)
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(`${value} is not a JSON number`)
      return value
    case 'object':
      break
    default:
      throw new NotJson(`a ${typeof value} is not JSON`)
  }
  if (value === null) return null
  if (depth >= budget.limits.depth) throw tooDeep(budget)
  const known = knownJson(value)
  if (known !== undefined) return takeKnown(value as Json, known, depth, budget)
  if (Array.isArray(value)) {
    const list: Json[] = []
    for (let index = 0; index < value.length; index++) list.push(copy(value[index], depth + 1, budget))
    return Object.freeze(list)
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new NotJson('only plain objects and lists are JSON')
  }
  const result: Record<string, Json> = {}
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined) continue
    const copied = copy(member, depth + 1, budget)
    measured(key, budget)
    if (key === '__proto__') Object.defineProperty(result, key, { value: copied, enumerable: true })
    else result[key] = copied
  }
  return Object.freeze(result)
}

/** Nobody can change it, so it is its own copy. */
function takeKnown(value: Json, known: KnownJson, depth: number, budget: Budget): Json {
  budget.nodes -= known.nodes - 1
  budget.text -= known.characters
  if (budget.nodes < 0) throw tooMany(budget)
  if (budget.text < 0) throw tooLong(budget)
  if (depth + known.depth > budget.limits.depth) throw tooDeep(budget)
  return value
}

function measured(text: string, budget: Budget): string {
  budget.text -= text.length
  if (budget.text < 0) throw tooLong(budget)
  if (!text.isWellFormed()) throw new NotJson('its text holds half of a character (a lone surrogate)')
  return text
}

function tooMany({ limits }: Budget): NotJson {
  return new NotJson(`it has more than ${limits.nodes} parts`)
}

function tooLong({ limits }: Budget): NotJson {
  return new NotJson(`its text is longer than ${limits.text} characters`)
}

function tooDeep({ limits }: Budget): NotJson {
  return new NotJson(`it is nested more than ${limits.depth} levels deep, or contains itself`)
}
