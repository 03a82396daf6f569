import { z } from 'zod'
import type { JsonObject } from '../shared/json.ts'
import { policySchema } from './policy-schema.ts'

/** Where the published JSON Schema of policy files lies in the package. */
export const policySchemaFile = 'schema/policy.json'

/** The JSON Schema of policy files, for editors; it comes from the same definition as the parser. */
export function policyJsonSchema(): JsonObject {
  const { $schema, ...schema } = z.toJSONSchema(policySchema, { io: 'input', unrepresentable: 'any' })
  return { $schema, title: 'Lockstep policy', ...schema } as never as JsonObject
}
