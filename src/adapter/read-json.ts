import type { Json } from '../shared/json.ts'

/**
 * The value of a JSON text; undefined if it is none. A whole number that a computer would round, such as a long id, is kept as text:
 * rounded, it would be the id of something else.
 */
export function readJson(text: string): Json | undefined {
  try {
    return JSON.parse(text, keepExact) as Json
  } catch {
    return undefined
  }
}

function keepExact(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return Number.isFinite(value) && value % 1 !== 0 ? value : (context?.source ?? String(value))
}
