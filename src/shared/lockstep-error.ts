import type { ErrorCode } from './error-code.ts'

/** What an engine does with a run whose work raised the error: try again, end it, or wait for a person. */
export type Consequence = 'retry' | 'fail' | 'pause'

const brand = Symbol.for('lockstep.error')

/**
 * The one base class of everything Lockstep throws. It carries plain data only, never live state or a secret;
 * `code` names a page in docs/errors.
 */
export class LockstepError extends Error {
  readonly code: ErrorCode
  readonly hint: string | null
  readonly consequence: Consequence

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string | null; consequence?: Consequence; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'LockstepError'
    this.code = code
    this.hint = options.hint ?? null
    this.consequence = options.consequence ?? 'fail'
    Object.defineProperty(this, brand, { value: true })
  }

  /** Recognises a LockstepError even when it was made by another copy of the package or in another realm. */
  static isInstance(error: unknown): error is LockstepError {
    return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
  }
}

/** Throws `internal` when the condition does not hold: a bug in Lockstep, never the user's doing. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new LockstepError('internal', message)
}
