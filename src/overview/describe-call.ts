import { escapeControl } from '../shared/escape-control.ts'
import type { JsonObject } from '../shared/json.ts'

const mostShown = 60

/** A call with all its arguments, each short enough for a line. */
export function describeCall(tool: string, args: JsonObject): string {
  const shown = Object.entries(args).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `${name}=${text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`}`
  })
  return escapeControl(`${tool.padEnd(16)} ${shown.join(' ')}`)
}
