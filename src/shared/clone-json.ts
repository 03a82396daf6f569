import type { Json } from './json.ts'

/** A copy of plain JSON that its holder may change; much faster than a structured clone. */
export function cloneJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map(cloneJson)
  const copy: Record<string, Json> = {}
  for (const [key, member] of Object.entries(value)) {
    // A member of this name would become the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { ...open, value: cloneJson(member as Json) })
    else copy[key] = cloneJson(member as Json)
  }
  return copy
}

const open = { enumerable: true, configurable: true, writable: true } as const
