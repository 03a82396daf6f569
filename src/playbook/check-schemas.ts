import type { DocumentPath } from '../document/diagnostic.ts'
import { type JsonSchema, findSchemaProblems } from '../shared/json-schema.ts'
import { type CheckContext, stepPath } from './check-context.ts'

/** Reports every JSON Schema in the playbook that is not one, or that could not be checked in bounded time. */
export function checkSchemas({ draft, report, wording }: CheckContext): void {
  const check = (schema: JsonSchema | undefined, path: DocumentPath): void => {
    if (schema === undefined) return
    for (const problem of findSchemaProblems(schema, true)) {
      report(
        'invalid_schema',
        [...path, ...problem.path],
        `${wording.place(path)} is not a usable JSON Schema: ${problem.message}`,
      )
    }
  }
  for (const step of draft.steps) {
    check(step.validation.result_schema, stepPath(step, 'validation', 'result_schema'))
    for (const [tool, rule] of Object.entries(step.arguments))
      check(rule.schema, stepPath(step, 'arguments', tool, 'schema'))
  }
  for (const [name, input] of Object.entries(draft.inputs)) {
    if (typeof input !== 'string') check(input.schema, ['inputs', name, 'schema'])
  }
}
