import type { Json, JsonObject } from '../shared/json.ts'

/** The names of the arguments that hold what only a made call could tell: in a dry run that stays as the text of its placeholder. */
export function unknownArguments(args: JsonObject | null): readonly string[] {
  if (args === null) return []
  return Object.keys(args).filter((name) => holdsPlaceholder(args[name]))
}

function holdsPlaceholder(value: Json | undefined): boolean {
  if (typeof value === 'string') return /\{[^{}]*\b(?:steps\.|item\b|output\b)[^{}]*\}/.test(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsPlaceholder)
}
