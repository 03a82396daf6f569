import type { JsonObject } from '../shared/json.ts'
import type { Tool } from './tool.ts'

/** What a tool says that a call acts on; null where it does not say, or cannot. */
export function targetOf(tool: Tool, args: JsonObject | null): string | null {
  if (tool.target === null) return null
  try {
    const target: unknown = tool.target(args ?? {})
    return typeof target === 'string' ? target : null
  } catch {
    return null
  }
}
