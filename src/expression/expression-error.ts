/** The codes an expression can fail with. Each has a page in docs/errors. */
export const expressionErrorCodes = [
  'expression_syntax',
  'unsupported_syntax',
  'not_in_condition',
  'unknown_name',
  'unknown_function',
  'wrong_arguments',
  'inexact_number',
  'missing_value',
  'wrong_type',
  'out_of_range',
  'expression_limit',
] as const

export type ExpressionErrorCode = (typeof expressionErrorCodes)[number]

/** A stretch of the source, in UTF-16 offsets; `end` is exclusive. */
export interface SourceRange {
  readonly start: number
  readonly end: number
}

/** Why an expression has no value and where in its source: itself a value, never thrown out of this module. */
export class ExpressionError {
  readonly code: ExpressionErrorCode
  readonly message: string
  readonly start: number
  readonly end: number

  constructor(code: ExpressionErrorCode, message: string, range: SourceRange) {
    this.code = code
    this.message = message
    this.start = range.start
    this.end = range.end
  }
}

/** Says whether an outcome of parsing or evaluating is an error. */
export function isExpressionError(value: unknown): value is ExpressionError {
  return value instanceof ExpressionError
}
