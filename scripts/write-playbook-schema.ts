import { writeFileSync } from 'node:fs'
import { playbookJsonSchema, playbookSchemaFile } from '../src/playbook/playbook-json-schema.ts'

writeFileSync(
  new URL(`../${playbookSchemaFile}`, import.meta.url),
  `${JSON.stringify(playbookJsonSchema(), null, 2)}\n`,
)
