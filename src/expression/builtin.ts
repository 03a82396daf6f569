import type { Outcome, StaticType } from './compilation.ts'
import type { ExpressionError, ExpressionErrorCode } from './expression-error.ts'
import type { EvaluationScope } from './expression-limit.ts'
import type { ExpressionValue } from './expression-value.ts'

/** What a function sees of the call it serves: how to fail there, and the work it may still do. */
export interface CallSite {
  readonly scope: EvaluationScope
  fail(code: ExpressionErrorCode, message: string): ExpressionError
}

/** One parameter: the types it takes, and whether it may be left out. */
export interface Parameter {
  readonly name: string
  readonly types: readonly StaticType[]
  readonly optional?: boolean
  /** Whether it is given by name only. */
  readonly named?: boolean
}

/** A function or method of the language. Its arguments have been checked against the parameters when it runs. */
export interface Builtin {
  readonly parameters: readonly Parameter[]
  /** Whether conditions may use it too. */
  readonly condition: boolean
  readonly returns: StaticType
  /** Whether it may be given `… for x in items` in place of a list. */
  readonly generator?: boolean
  /** Whether further arguments like the last are taken. */
  readonly variadic?: boolean
  readonly run: (given: readonly (ExpressionValue | undefined)[], site: CallSite) => Outcome
}

/** A parameter that takes any of the types. */
export function takes(name: string, ...types: readonly StaticType[]): Parameter {
  return { name, types }
}

/** The same parameter, which may be left out. */
export function maybe(parameter: Parameter): Parameter {
  return { ...parameter, optional: true }
}
