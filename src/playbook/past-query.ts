import type { ExpressionValue } from '../expression/expression-value.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import type { Json } from '../shared/json.ts'

/** How often calls of one kind ended how, and what the last success returned. */
export interface PastTally {
  succeeded: number
  failed: number
  open: number
  result: Json | undefined
}

/** Names a question about the past: which tool, and which of its arguments are compared. */
export function pastShape(tool: string, argumentNames: readonly string[]): string {
  return `${tool}(${argumentNames.toSorted().join(',')})`
}

/** One string for a tuple of argument values; equal values, and only those, give equal strings. */
export function pastKey(values: readonly ExpressionValue[]): string {
  if (values.length === 0) return ''
  const only = values[0]
  if (values.length === 1 && typeof only === 'string') return `"${only}`
  return canonicalJson(values as readonly Json[])
}
