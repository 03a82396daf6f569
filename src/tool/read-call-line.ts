import type { Json, JsonObject } from '../shared/json.ts'

/**
 * Reads a call as people type it: `refund order_id=ORD-42 amount=30 note="two words"`. Values are JSON where they can be, else
 * text. Returns what is wrong with the line if it is no call.
 */
export function readCallLine(line: string): { readonly tool: string; readonly args: JsonObject } | string {
  const [tool, ...rest] = line.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*")+/g) ?? []
  if (tool === undefined) return 'That cannot be read: is a quotation mark missing?'
  const args: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const part of rest) {
    const at = part.indexOf('=')
    if (at < 1) return `"${part}" is not an argument. Write name=value, as in order_id=ORD-42.`
    args[part.slice(0, at)] = readArgument(part.slice(at + 1))
  }
  return { tool, args }
}

function readArgument(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    // Not JSON: a word, as people type it.
    return text
  }
}
