import type { Playbook, PlaybookInput } from '../playbook/playbook.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { unknown } from './read-flags.ts'

/** Reads `name=value` texts as the playbook's inputs are typed. Throws `usage` for what is no input or no such value. */
export function readInputs(playbook: Playbook, texts: readonly string[]): JsonObject {
  const inputs: Record<string, Json> = {}
  for (const text of texts) {
    const at = text.indexOf('=')
    if (at < 1) throw new LockstepError('usage', `--input needs name=value, not ${text}`)
    const name = text.slice(0, at)
    const input = Object.hasOwn(playbook.inputs, name) ? playbook.inputs[name] : undefined
    if (input === undefined) throw unknown('input', name, Object.keys(playbook.inputs))
    if (Object.hasOwn(inputs, name)) throw new LockstepError('usage', `the input ${name} is given twice`)
    inputs[name] = readValue(name, input.type, text.slice(at + 1))
  }
  return inputs
}

/** The inputs that a run cannot do without and was not given, each as a line for people. */
export function missingInputs(playbook: Playbook, given: JsonObject): string[] {
  return Object.entries(playbook.inputs)
    .filter(([name, input]) => input.required && input.default === undefined && !Object.hasOwn(given, name))
    .map(
      ([name, { type, description }]) =>
        `--input ${name}=${type.toUpperCase()}${description === undefined ? '' : `   ${description}`}`,
    )
}

function readValue(name: string, type: PlaybookInput['type'], text: string): Json {
  const refuse = (what: string) =>
    new LockstepError('usage', `the input ${name} must be ${what}, not ${text}`)
  switch (type) {
    case 'string':
    case 'any':
      return text
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw refuse('true or false')
      return text === 'true'
    case 'number':
    case 'integer': {
      const number = Number(text)
      const whole = type === 'number' || Number.isSafeInteger(number)
      if (text.trim() === '' || !Number.isFinite(number) || !whole)
        throw refuse(type === 'integer' ? 'a whole number' : 'a number')
      return number
    }
    default: {
      const value = parseJson(text)
      const fits =
        type === 'array'
          ? Array.isArray(value)
          : typeof value === 'object' && value !== null && !Array.isArray(value)
      if (!fits) throw refuse(type === 'array' ? 'a list in JSON' : 'an object in JSON')
      return value as Json
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
