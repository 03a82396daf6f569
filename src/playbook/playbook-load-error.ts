import { type Diagnostic, describeDiagnostic } from '../document/diagnostic.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

const shown = 10

/** Thrown when a playbook cannot be read or is not valid; it lists every problem that was found, not only the first. */
export class PlaybookLoadError extends LockstepError {
  readonly path: string | null
  readonly errors: readonly string[]
  readonly diagnostics: readonly Diagnostic[]

  constructor(
    message: string,
    details: {
      path?: string | null
      errors?: readonly string[]
      diagnostics?: readonly Diagnostic[]
      cause?: unknown
    } = {},
  ) {
    super('invalid_playbook', message, details.cause === undefined ? {} : { cause: details.cause })
    this.name = 'PlaybookLoadError'
    this.path = details.path ?? null
    this.diagnostics = details.diagnostics ?? []
    this.errors = details.errors ?? []
  }

  /** The error for a document with problems; its message names each of the first ten with its place. */
  static fromDiagnostics(
    diagnostics: readonly Diagnostic[],
    path: string | null,
    cause?: unknown,
  ): PlaybookLoadError {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
    const lines = errors.slice(0, shown).map((error) => `${placeOf(error)}${describeDiagnostic(error)}`)
    if (errors.length > shown) lines.push(`and ${errors.length - shown} more`)
    const subject = path === null ? 'Invalid playbook' : `Invalid playbook ${path}`
    const message = lines.length === 1 ? `${subject}: ${lines[0]}` : `${subject}:\n  ${lines.join('\n  ')}`
    return new PlaybookLoadError(message, {
      path,
      errors: errors.map(describeDiagnostic),
      diagnostics,
      cause,
    })
  }
}

function placeOf(diagnostic: Diagnostic): string {
  return diagnostic.line === null ? '' : `line ${diagnostic.line}, column ${diagnostic.column}: `
}
