import type { ProgramTool } from './markdown/callables.ts'
import { isJsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'

/** A tool as far as a playbook has to know it. */
export interface KnownTool {
  readonly name: string
  readonly input?: JsonSchema | null
  /** What it can do at worst; irreversible where nobody says. */
  readonly risk?: ProgramTool['risk'] | null
}

/** What a Markdown playbook must know of a tool to call it: its parameters, in their order, and what it can do. */
export function programTool({ name, input, risk }: KnownTool): ProgramTool {
  const schema = (input ?? {}) as Exclude<JsonSchema, boolean>
  const { properties, required } = schema
  const open = properties === undefined && schema.additionalProperties !== false
  return {
    name,
    risk: risk ?? 'irreversible',
    parameters: isJsonObject(properties as never) ? Object.keys(properties as object) : [],
    ...(open ? { open } : {}),
    ...(input == null ? {} : { required: Array.isArray(required) ? (required as string[]) : [] }),
  }
}
