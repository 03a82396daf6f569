import type { Undo } from '../run/ticket.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { shortText } from '../shared/short-text.ts'
import { partLimits, toJson } from '../shared/to-json.ts'
import type { Tool } from './tool.ts'

/**
 * The call that a tool says undoes a succeeded one, or why it cannot say; null where there is nothing to undo. Never throws: that a call
 * cannot be undone is part of its record.
 */
export function compensationOf(tool: Tool, args: JsonObject | null, result: Json | undefined): Undo | null {
  if (tool.compensate === null) return null
  try {
    const said: unknown = tool.compensate(structuredClone(args ?? {}), structuredClone(result ?? null))
    if (said === null || said === undefined) return null
    const { tool: name, args: given = {} } = said as { tool?: unknown; args?: unknown }
    const reading = toJson(given, partLimits)
    if (typeof name !== 'string') return { error: `'${tool.name}' names no tool that undoes it` }
    if (reading.problem !== null || !isJsonObject(reading.value)) {
      return { error: `'${tool.name}' gives '${name}', which undoes it, arguments that are none` }
    }
    return { tool: name, args: reading.value }
  } catch (error) {
    return { error: shortText(`'${tool.name}' cannot say what undoes it: ${messageOf(error)}`) }
  }
}
