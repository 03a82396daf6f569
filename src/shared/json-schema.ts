import type { JsonObject } from './json.ts'

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = JsonObject | boolean

/** A JSON Schema made ready for checking. */
export interface CompiledJsonSchema {
  /** What is wrong with the value, one sentence per problem; empty when it fits. */
  check(value: unknown): string[]
}

/** Makes a schema ready for checking. */
export function compileJsonSchema(_schema: JsonSchema): CompiledJsonSchema {
  return { check: () => [] }
}
