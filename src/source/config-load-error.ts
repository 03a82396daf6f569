import { type Diagnostic, describeDiagnostic } from '../document/diagnostic.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

const shown = 10

/** Thrown when a configuration cannot be read or is not valid; it lists every problem that was found. */
export class ConfigLoadError extends LockstepError {
  readonly diagnostics: readonly Diagnostic[]

  constructor(file: string, diagnostics: readonly Diagnostic[], cause?: unknown) {
    const lines = diagnostics
      .slice(0, shown)
      .map(
        (each) =>
          `${each.line === null ? '' : `line ${each.line}, column ${each.column}: `}${describeDiagnostic(each)}`,
      )
    if (diagnostics.length > shown) lines.push(`and ${diagnostics.length - shown} more`)
    const message =
      lines.length === 1
        ? `Invalid configuration ${file}: ${lines[0]}`
        : `Invalid configuration ${file}:\n  ${lines.join('\n  ')}`
    super('invalid_config', message, cause === undefined ? {} : { cause })
    this.name = 'ConfigLoadError'
    this.diagnostics = diagnostics
  }
}
