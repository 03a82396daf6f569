import type { Json, JsonObject } from '../shared/json.ts'
import { isJsonObject } from '../shared/json.ts'
import { partLimits, toJson } from '../shared/to-json.ts'
import type { Tool } from './tool.ts'

/** The call that undoes another one. */
export interface Compensation {
  readonly tool: string
  readonly args: JsonObject
}

/** The call that a tool says undoes a succeeded one; null where it says none, or nothing that could be called. Never throws. */
export function compensationOf(
  tool: Tool,
  args: JsonObject | null,
  result: Json | undefined,
): Compensation | null {
  if (tool.compensate === null) return null
  try {
    const said: unknown = tool.compensate(structuredClone(args ?? {}), structuredClone(result ?? null))
    if (typeof said !== 'object' || said === null) return null
    const { tool: name, args: given = {} } = said as { tool?: unknown; args?: unknown }
    const reading = toJson(given, partLimits)
    if (typeof name !== 'string' || reading.problem !== null || !isJsonObject(reading.value)) return null
    return { tool: name, args: reading.value }
  } catch {
    return null
  }
}
