import { writeFileSync } from 'node:fs'
import { policyJsonSchema, policySchemaFile } from '../src/policy/policy-json-schema.ts'

writeFileSync(
  new URL(`../${policySchemaFile}`, import.meta.url),
  `${JSON.stringify(policyJsonSchema(), null, 2)}\n`,
)
