import type { ValueType } from '../../playbook/program.ts'
import type { Json, JsonObject } from '../../shared/json.ts'
import type { AskedQuestion } from './asked-questions.ts'

/** The shape of a value that may be absent. */
const valueSchemas: Readonly<Record<ValueType, JsonObject>> = {
  any: {
    type: ['string', 'number', 'boolean', 'array', 'object', 'null'],
    items: {},
    additionalProperties: true,
  },
  str: { type: ['string', 'null'] },
  int: { type: ['integer', 'null'] },
  float: { type: ['number', 'null'] },
  bool: { type: ['boolean', 'null'] },
  list: { type: ['array', 'null'], items: {} },
  dict: { type: ['object', 'null'], additionalProperties: true },
}

/** Types whose values have no shape that could be held to. */
const open: ReadonlySet<ValueType> = new Set(['any', 'list', 'dict'])

/** The JSON Schema of the answer to one question. */
export function answerSchema({ question, slotKeys }: AskedQuestion): JsonObject {
  switch (question.kind) {
    case 'judge':
      // The reason comes first: who has said why judges better.
      return objectSchema({ reason: { type: 'string' }, value: { type: 'boolean' } })
    case 'write':
      return { type: 'string' }
    case 'match': {
      const positions = question.triggers.map((_, index) => index)
      // A list of allowed values must not be empty.
      const items: JsonObject = positions.length === 0 ? {} : { enum: positions }
      return { type: 'array', items: { type: 'integer', ...items } }
    }
    case 'extract':
      return objectSchema(
        Object.fromEntries(
          question.slots.map(({ type }, index) => [slotKeys[index]!, valueSchemas[type]] as const),
        ),
      )
  }
}

/** The JSON Schema of the answer to all of them: one property for each. */
export function batchSchema(asked: readonly AskedQuestion[]): JsonObject {
  return objectSchema(Object.fromEntries(asked.map((each) => [each.key, answerSchema(each)] as const)))
}

function objectSchema(properties: { readonly [name: string]: Json }): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** Whether a service that holds a model to a schema could hold it to this one; most know no values of any shape. */
export function isClosed(asked: readonly AskedQuestion[]): boolean {
  return !slots(asked).some(({ type }) => open.has(type))
}

/** How many values may be absent: services have a limit on those. */
export function countOptional(asked: readonly AskedQuestion[]): number {
  return slots(asked).length
}

function slots(asked: readonly AskedQuestion[]) {
  return asked.flatMap(({ question }) => (question.kind === 'extract' ? question.slots : []))
}
