import { type Diagnostic, describeDiagnostic } from '../document/diagnostic.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

const shown = 10

/** Thrown when a policy cannot be read or is not valid; it lists every problem that was found, not only the first. */
export class PolicyLoadError extends LockstepError {
  readonly path: string | null
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[], path: string | null) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error')
    const lines = errors.slice(0, shown).map((error) => `${placeOf(error)}${describeDiagnostic(error)}`)
    if (errors.length > shown) lines.push(`and ${errors.length - shown} more`)
    const subject = path === null ? 'Invalid policy' : `Invalid policy ${path}`
    super(
      'invalid_policy',
      lines.length === 1 ? `${subject}: ${lines[0]}` : `${subject}:\n  ${lines.join('\n  ')}`,
    )
    this.name = 'PolicyLoadError'
    this.path = path
    this.diagnostics = diagnostics
  }
}

function placeOf({ line, column }: Diagnostic): string {
  return line === null ? '' : `line ${line}, column ${column}: `
}
