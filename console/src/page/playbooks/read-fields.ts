/** What was typed, by the name of the input; a box that is ticked is `true`. */
export type FieldValues = Readonly<Record<string, string>>

/** An input as a form shows it. */
export type InputField = {
  readonly name: string
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json'
  readonly description: string
  readonly required: boolean
  readonly initial: string
  readonly choices: readonly string[]
}

type Schema = Readonly<Record<string, unknown>>
type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** The fields that a JSON Schema of inputs asks for, in its order. */
export function fieldsOf(schema: Schema): readonly InputField[] {
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as string[]) : [])
  return Object.entries((schema['properties'] ?? {}) as Record<string, Schema>).map(([name, each]) => {
    const given = each['default']
    return {
      name,
      kind: kindOf(each),
      description: typeof each['description'] === 'string' ? each['description'] : '',
      required: required.has(name) && given === undefined,
      initial: given === undefined ? '' : typeof given === 'string' ? given : JSON.stringify(given),
      choices: Array.isArray(each['enum']) ? (each['enum'] as unknown[]).map(String) : [],
    }
  })
}

function kindOf({ type, enum: choices }: Schema): InputField['kind'] {
  if (Array.isArray(choices) && choices.every((each) => typeof each === 'string')) return 'choice'
  if (type === 'number' || type === 'integer' || type === 'boolean') return type
  return type === 'string' ? 'text' : 'json'
}

/** The inputs that were typed; what is missing or has the wrong form, by its name. What was left empty and need not be given is left out. */
export function readFields(
  schema: Schema,
  values: FieldValues,
): { readonly inputs: Record<string, Json>; readonly problems: Readonly<Record<string, string>> } {
  const inputs: Record<string, Json> = {}
  const problems: Record<string, string> = {}
  for (const field of fieldsOf(schema)) {
    const typed = values[field.name] ?? field.initial
    if (typed.trim() === '' && field.kind !== 'boolean') {
      if (field.required) problems[field.name] = 'is needed'
      continue
    }
    const read = readValue(field.kind, typed)
    if (read === undefined) problems[field.name] = wrong[field.kind]
    else inputs[field.name] = read
  }
  return { inputs, problems }
}

const wrong = {
  text: '',
  choice: 'must be one of the choices',
  boolean: '',
  number: 'must be a number',
  integer: 'must be a whole number',
  json: 'must be JSON, such as ["a", "b"] or {"a": 1}',
} as const satisfies Record<InputField['kind'], string>

function readValue(kind: InputField['kind'], typed: string): Json | undefined {
  if (kind === 'boolean') return typed === 'true'
  if (kind === 'number' || kind === 'integer') {
    const number = Number(typed)
    return Number.isFinite(number) && (kind === 'number' || Number.isInteger(number)) ? number : undefined
  }
  if (kind !== 'json') return typed
  try {
    return JSON.parse(typed) as Json
  } catch {
    return undefined
  }
}
