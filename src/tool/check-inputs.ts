import type { Playbook, PlaybookInput } from '../playbook/playbook.ts'
import { compileJsonSchema, type CompiledJsonSchema } from '../shared/json-schema.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { toJson } from '../shared/to-json.ts'

/** The inputs of a run with the defaults filled in. Throws `invalid_input` that names every problem. */
export function checkInputs(playbook: Playbook, given: unknown): JsonObject {
  const reading = toJson(given ?? {})
  if (reading.problem !== null)
    throw new LockstepError('invalid_input', `The inputs cannot be read: ${reading.problem}.`)
  if (typeof reading.value !== 'object' || reading.value === null || Array.isArray(reading.value)) {
    throw new LockstepError('invalid_input', 'The inputs must be an object with a member for each input.')
  }
  const values = reading.value as JsonObject
  const problems: string[] = []
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(playbook.inputs, name)) continue
    const nearest = nearestName(name, Object.keys(playbook.inputs))
    problems.push(`there is no input '${name}'${nearest === null ? '' : `; did you mean '${nearest}'?`}`)
  }
  const inputs: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const [name, input] of Object.entries(playbook.inputs)) {
    const value = Object.hasOwn(values, name) ? values[name]! : input.default
    if (value !== undefined) {
      problems.push(...inputProblems(input, value).map((problem) => `'${name}': ${problem}`))
      inputs[name] = value
    } else if (input.required) problems.push(`'${name}' is missing`)
  }
  if (problems.length === 0) return Object.freeze(inputs)
  throw new LockstepError(
    'invalid_input',
    `The inputs do not fit the playbook '${playbook.id}': ${problems.join('; ')}.`,
  )
}

/** Compiled once for each input of a playbook, because many runs of it may begin at once. */
const compiled = new WeakMap<PlaybookInput, CompiledJsonSchema>()

function inputProblems(input: PlaybookInput, value: Json): string[] {
  let schema = compiled.get(input)
  if (schema === undefined) {
    schema = compileJsonSchema({
      ...(input.type === 'any' ? {} : { type: input.type }),
      ...(input.enum === undefined ? {} : { enum: input.enum }),
      ...(input.schema === undefined ? {} : { allOf: [input.schema] }),
    })
    compiled.set(input, schema)
  }
  return schema.check(value)
}
