/**
 * The placeholders of declared tools: `{args.…}`, `{inputs.…}` and `{key}`, and in some places what an answer or a result holds. What cannot be filled in is a ToolFailure, because nothing has
 * been sent yet.
 */
import { compileExpression } from '../expression/compile-expression.ts'
import { type CompiledTemplate, compileTemplate } from '../expression/compile-template.ts'
import { isExpressionError } from '../expression/expression-error.ts'
import type { ExpressionValue } from '../expression/expression-value.ts'
import { type Json, type JsonObject, isJsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { ToolFailure } from '../tool/tool-failure.ts'

/** A text with placeholders, and what it is for, which errors name. */
export interface ToolTemplate {
  readonly what: string
  readonly compiled: CompiledTemplate<undefined>
}

/** What placeholders are filled in from. */
export interface CallValues {
  readonly args: JsonObject
  readonly inputs: JsonObject
  /** The idempotency key of the call. */
  readonly key: string
  /** The values of the further names that the text was compiled with, in their order. */
  readonly more?: readonly (Json | undefined)[]
}

const names = ['args', 'inputs', 'key'] as const

type Evaluable = Pick<CompiledTemplate<undefined>, 'evaluate'>

/** Compiles a text, which may use further names. Throws `invalid_tool` if its placeholders are no expressions. */
export function compileToolTemplate(text: string, what: string, more: readonly string[] = []): ToolTemplate {
  const { template, errors } = compileTemplate<undefined>(text, { names: [...names, ...more] })
  if (template !== null) return { what, compiled: template }
  throw new LockstepError('invalid_tool', `${what}: ${errors.map(({ message }) => message).join('; ')}.`)
}

/** The value of one placeholder or of a whole template. Throws ToolFailure if it has none. */
export function fillValue(part: Evaluable, what: string, values: CallValues): Json {
  const value = part.evaluate(valueList(values), undefined)
  if (isExpressionError(value)) throw new ToolFailure(`${what} cannot be filled in: ${value.message}`)
  return value as Json
}

/** The text of a template; a value that is no text, number or truth value cannot stand in it. */
export function fillText(template: ToolTemplate, values: CallValues): string {
  return template.compiled.parts
    .map((part) =>
      typeof part === 'string' ? part : plainText(fillValue(part, template.what, values), template.what),
    )
    .join('')
}

/** The text of a value that is text, a number, or true or false. Throws ToolFailure for any other. */
export function plainText(value: Json, what: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'a dict'
  throw new ToolFailure(
    `${what} cannot be filled in with ${kind}: only text, a number, true or false can stand there`,
  )
}

/** A function that fills in every text of a JSON value; a text that is only a placeholder keeps its type. */
export function compileJsonTemplate(
  value: Json,
  what: string,
  more: readonly string[] = [],
): (values: CallValues) => Json {
  if (typeof value === 'string') {
    const { compiled } = compileToolTemplate(value, what, more)
    return (values) => fillValue(compiled, what, values)
  }
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => compileJsonTemplate(item, what, more))
    return (values) => items.map((item) => item(values))
  }
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(
      ([key, item]) => [key, compileJsonTemplate(item, what, more)] as const,
    )
    return (values) => Object.fromEntries(members.map(([key, item]) => [key, item(values)]))
  }
  return () => value
}

/** Compiles a condition: it holds, it does not, or null where that cannot be said. Throws `invalid_tool` if it is no expression. */
export function compileToolCondition(
  text: string,
  what: string,
  more: readonly string[],
): (values: CallValues) => boolean | null {
  const { expression, errors } = compileExpression<undefined>(text, {
    profile: 'condition',
    names: [...names, ...more],
  })
  if (expression === null) {
    throw new LockstepError('invalid_tool', `${what}: ${errors.map(({ message }) => message).join('; ')}.`)
  }
  return (values) => {
    const value = expression.evaluate(valueList(values), undefined)
    return typeof value === 'boolean' ? value : null
  }
}

function valueList({ args, inputs, key, more = [] }: CallValues): (ExpressionValue | undefined)[] {
  return [args, inputs, key, ...more] as (ExpressionValue | undefined)[]
}
