import type { Json } from '../shared/json.ts'
import { compileJsonSchema, findSchemaProblems } from '../shared/json-schema.ts'
import type { CheckContext } from './check-context.ts'
import { describe } from './check-shape.ts'
import { equalJson } from './freeze.ts'

/** Reports inputs whose default or listed values do not fit what the input itself says. */
export function checkInputs({ draft, report, wording }: CheckContext): void {
  if (draft.broken('inputs')) return
  for (const [name, input] of Object.entries(draft.inputs)) {
    if (typeof input === 'string') continue
    const { type, schema } = input
    const { check } = compileJsonSchema(type === 'any' ? {} : { type })
    const isOfType = (value: Json) => check(value).length === 0
    input.enum?.forEach((value, index) => {
      if (isOfType(value)) return
      const path = ['inputs', name, 'enum', index]
      report(
        'invalid_default',
        path,
        `${wording.place(path)} lists ${describe(value)}, which is not of type ${type}`,
      )
    })
    if (input.default === undefined) continue
    const path = ['inputs', name, 'default']
    if (input.required === true) {
      report(
        'conflicting_keys',
        ['inputs', name, 'required'],
        `the input \`${name}\` is required and has a default`,
        {
          suggestion: 'remove one of the two',
        },
      )
    }
    if (!isOfType(input.default)) {
      report(
        'invalid_default',
        path,
        `${wording.place(path)} is ${describe(input.default)}, which is not of type ${type}`,
      )
    } else if (input.enum !== undefined && !input.enum.some((value) => equalJson(value, input.default))) {
      report(
        'invalid_default',
        path,
        `${wording.place(path)} is ${describe(input.default)}, which \`enum\` does not list`,
      )
    } else if (schema !== undefined && findSchemaProblems(schema).length === 0) {
      for (const problem of compileJsonSchema(schema).check(input.default)) {
        report('invalid_default', path, `${wording.place(path)} does not fit its schema: ${problem}`)
      }
    }
  }
}
