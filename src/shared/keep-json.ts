import type { Json } from './json.ts'
import { makeKnown } from './known-json.ts'
import { toJson } from './to-json.ts'
import { writeJson } from './write-json.ts'

/**
 * A frozen copy of JSON that stands in many records: it is copied and written once, however many they are. What is no JSON, or
 * too large, is given back as it is, for whoever writes it down to refuse.
 */
export function keepJson<Value extends object>(value: Value): Value {
  const reading = toJson(value)
  if (reading.problem !== null || typeof reading.value !== 'object' || reading.value === null) return value
  const size = { nodes: 0, characters: 0, depth: 0 }
  measure(reading.value, 1, size)
  makeKnown(reading.value, { ...writeJson(reading.value), ...size })
  return reading.value as Value
}

function measure(
  value: Json,
  depth: number,
  size: { nodes: number; characters: number; depth: number },
): void {
  size.nodes++
  if (typeof value === 'string') size.characters += value.length
  if (typeof value !== 'object' || value === null) return
  size.depth = Math.max(size.depth, depth)
  for (const [key, member] of Object.entries(value)) {
    if (!Array.isArray(value)) size.characters += key.length
    measure(member as Json, depth + 1, size)
  }
}
