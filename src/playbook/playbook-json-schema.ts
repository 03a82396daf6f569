import { z } from 'zod'
import type { JsonObject } from '../shared/json.ts'
import { playbookSchema } from './playbook-schema.ts'

/** Where the published JSON Schema of playbook files lies in the package. */
export const playbookSchemaFile = 'schema/playbook.json'

/** The JSON Schema of playbook files, for editors; it comes from the same definition as the parser. */
export function playbookJsonSchema(): JsonObject {
  const { $schema, ...schema } = z.toJSONSchema(playbookSchema, { io: 'input', unrepresentable: 'any' })
  return { $schema, title: 'Lockstep playbook', ...schema } as never as JsonObject
}
