import { ExpressionError, type ExpressionErrorCode, type SourceRange } from './expression-error.ts'

/** Carries a syntax error out of the depth of the parser; `parseExpression` catches it, so it never leaves the module. */
export class SyntaxFailure extends Error {
  readonly error: ExpressionError

  constructor(code: ExpressionErrorCode, message: string, range: SourceRange) {
    super(message)
    this.error = new ExpressionError(code, message, range)
  }
}
