import { z } from 'zod'
import type { Json, JsonObject } from '../shared/json.ts'
import { playbookSchema } from './playbook-schema.ts'
import { mostSideBySide } from './spell-runbook.ts'

/** Where the published JSON Schema of playbook files lies in the package. */
export const playbookSchemaFile = 'schema/playbook.json'

interface Shape {
  readonly [key: string]: Json
  readonly properties: JsonObject
  readonly required: readonly string[]
}

/**
 * The JSON Schema of playbook files, for editors. It comes from the same definition as the parser, and takes the shorter spelling of
 * runbooks besides: names for ids, `args` for `input`, groups.
 */
export function playbookJsonSchema(): JsonObject {
  const written = z.toJSONSchema(playbookSchema, { io: 'input', unrepresentable: 'any' })
  const { $schema, $defs = {}, ...root } = written as never as Shape & { readonly $defs?: JsonObject }
  const steps = root.properties['steps'] as JsonObject
  return {
    $schema: $schema!,
    title: 'Lockstep playbook',
    ...root,
    properties: {
      ...root.properties,
      steps: { ...steps, items: { anyOf: [{ $ref: '#/$defs/step' }, { $ref: '#/$defs/group' }] } },
    },
    required: ['name'],
    $defs: { ...$defs, step: stepOf(steps['items'] as Shape), group },
  }
}

/** A step as it may be spelt: it has an id or a name, and says what it is for, by itself or by its name or tool. */
function stepOf({ required: _required, ...step }: Shape): JsonObject {
  return {
    ...step,
    properties: {
      ...step.properties,
      name: {
        description: 'What the step is called; makes its `id` and its `description` where these are absent.',
        type: 'string',
      },
      args: { description: 'Another word for `input`.', type: 'object' },
      type: { description: 'Says of a step with `tool` what it is anyway.', const: 'tool' },
    },
    allOf: [oneOf('id', 'name'), oneOf('description', 'name', 'tool')],
  }
}

const group: JsonObject = {
  type: 'object',
  description: 'Steps that run side by side; what follows comes after all of them.',
  properties: {
    parallel: {
      description: 'The steps of the group.',
      type: 'array',
      items: { $ref: '#/$defs/step' },
      minItems: 1,
      maxItems: mostSideBySide,
    },
  },
  required: ['parallel'],
  additionalProperties: false,
}

function oneOf(...keys: readonly string[]): JsonObject {
  return { anyOf: keys.map((key) => ({ required: [key] })) }
}
