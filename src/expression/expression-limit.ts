import { ExpressionError, type SourceRange } from './expression-error.ts'

/**
 * The limits that keep every expression cheap. Work is counted in units: one for each part of a loop's body and
 * each pass, one for each element copied, compared or printed, one for each 64 characters read or built; a dict that is
 * gone through costs eight, and two for each of its members.
 */
export const expressionLimit = {
  sourceLength: 10_000,
  depth: 100,
  work: 1_000_000,
  listLength: 100_000,
  textLength: 1_000_000,
  dataDepth: 500,
  exponent: 1_024,
} as const

/** What one evaluation may change: the work that is left and the variables of comprehensions. */
export interface EvaluationScope {
  work: number
  busy: boolean
  readonly locals: unknown[]
}

/** Takes units of work and says whether there were enough; once there were not, there never are. */
export function spend(scope: EvaluationScope, units: number): boolean {
  scope.work -= units
  return scope.work >= 0
}

/** Takes the work of going through a dict, which is dearer than a list: its names must be gathered first. */
export function spendDict(scope: EvaluationScope, size: number): boolean {
  return spend(scope, 8 + 2 * size)
}

/** Takes the work of reading or building that many characters, and says whether there was enough. */
export function spendText(scope: EvaluationScope, length: number): boolean {
  return spend(scope, 1 + Math.floor(length / 64))
}

/** Says whether the evaluation has used up its work, after which nothing may decide it any more. */
export function isExhausted(scope: EvaluationScope): boolean {
  return scope.work < 0
}

/** The error of an evaluation that used up its work or met data nested too deeply. */
export function tooMuchWork(range: SourceRange): ExpressionError {
  return new ExpressionError('expression_limit', 'the expression takes too much work', range)
}
