import { compileTemplate, type CompiledTemplate } from '../expression/compile-template.ts'
import { ExpressionError } from '../expression/expression-error.ts'
import type { ExpressionValue } from '../expression/expression-value.ts'
import { isJsonObject, type Json } from '../shared/json.ts'
import { invariant } from '../shared/lockstep-error.ts'
import { type PlacedSecret, secretHandle, secretIn } from './secret-reference.ts'

/** What the templates of a call may look at, in the order of their slots; each kind sees a beginning of it. */
export const callNames = ['inputs', 'steps', 'item', 'index', 'output', 'result'] as const

/** Where a template or condition of a call stands: what it goes through, its arguments, what follows it, what is expected of a check. */
export type CallScope = 'foreach' | 'input' | 'after' | 'expect'

/** The names that each of them sees. */
export const callScopes: Readonly<Record<CallScope, readonly string[]>> = {
  foreach: callNames.slice(0, 2),
  input: callNames.slice(0, 4),
  after: callNames.slice(0, 5),
  expect: callNames,
}

/** The value at a place of the input could not be worked out. */
export class InputProblem {
  readonly path: readonly (string | number)[]
  readonly source: string
  readonly error: ExpressionError

  constructor(path: InputProblem['path'], source: string, error: ExpressionError) {
    this.path = path
    this.source = source
    this.error = error
  }
}

/** The values of `callNames`, in their order; undefined for what is not known. */
export type CallValues = readonly (ExpressionValue | undefined)[]

/** JSON in which texts are templates, ready to be filled in any number of times. */
export interface CompiledInput {
  readonly templates: readonly PlacedTemplate[]
  /** Where secrets belong; what is filled in there is a handle. */
  readonly secrets: readonly PlacedSecret[]
  /**
   * The value with every placeholder filled in, or the first that could not be. A caller that can say what stands for such a value,
   * in a dry run, does so by `otherwise`.
   */
  evaluate(values: CallValues, otherwise?: (problem: InputProblem) => Json | undefined): Json | InputProblem
}

/** A template and where in the input it stands. */
export interface PlacedTemplate {
  readonly path: readonly (string | number)[]
  readonly template: CompiledTemplate<null>
}

/** What is wrong with one text of an input. */
export interface MisspeltInput {
  readonly path: readonly (string | number)[]
  readonly source: string
  readonly errors: readonly ExpressionError[]
}

/** Compiles an input, or says what is wrong with each of its texts. */
export function compileInput(
  value: Json,
  scope: CallScope,
): { readonly input: CompiledInput; readonly misspelt: readonly MisspeltInput[] } {
  const templates: PlacedTemplate[] = []
  const secrets: PlacedSecret[] = []
  const misspelt: MisspeltInput[] = []
  const compile = (part: Json, path: readonly (string | number)[]): Filler => {
    if (typeof part === 'string') {
      if (!part.includes('{') && !part.includes('}')) return () => part
      const secret = scope === 'foreach' ? null : secretIn(part)
      if (secret !== null) {
        secrets.push({ path, name: secret })
        const handle = secretHandle(secret)
        return () => handle
      }
      const { template, errors } = compileTemplate<null>(part, { names: callScopes[scope] })
      if (template === null) {
        misspelt.push({ path, source: part, errors })
        return () => part
      }
      templates.push({ path, template })
      return (values, otherwise) => {
        const filled = template.evaluate(values, null)
        if (!(filled instanceof ExpressionError)) return filled as Json
        const problem = new InputProblem(path, part, filled)
        return otherwise?.(problem) ?? problem
      }
    }
    if (Array.isArray(part)) {
      const items = part.map((item, index) => compile(item, [...path, index]))
      return (values, otherwise) => {
        const filled: Json[] = []
        for (const item of items) {
          const each = item(values, otherwise)
          if (each instanceof InputProblem) return each
          filled.push(each)
        }
        return filled
      }
    }
    if (!isJsonObject(part)) return () => part
    const members = Object.entries(part).map(([key, each]) => [key, compile(each, [...path, key])] as const)
    return (values, otherwise) => {
      const filled: [string, Json][] = []
      for (const [key, fill] of members) {
        const each = fill(values, otherwise)
        if (each instanceof InputProblem) return each
        filled.push([key, each])
      }
      return Object.fromEntries(filled)
    }
  }
  const evaluate = compile(value, [])
  return { input: { templates, secrets, evaluate }, misspelt }
}

/** The compiled form of an input that was checked when the playbook was read. */
export function checkedInput(value: Json, scope: CallScope): CompiledInput {
  const { input, misspelt } = compileInput(value, scope)
  invariant(misspelt.length === 0, `unchecked input: ${misspelt[0]?.errors[0]?.message}`)
  return input
}

type Filler = (
  values: CallValues,
  otherwise: ((problem: InputProblem) => Json | undefined) | undefined,
) => Json | InputProblem
