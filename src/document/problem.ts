import type { DiagnosticCode } from './diagnostic-code.ts'
import type { DocumentPath, Severity } from './diagnostic.ts'

/** A problem that knows where it lies in the value, not yet where that is in a text. */
export type Problem = {
  readonly code: DiagnosticCode
  readonly severity: Severity
  readonly message: string
  readonly suggestion: string | null
  readonly path: DocumentPath
  /** Whether the key or the value at the path is to blame. */
  readonly at: 'key' | 'value'
  /** The part of the text at the path that is to blame, as offsets into it; null means all of it. */
  readonly range: { readonly start: number; readonly end: number } | null
}

/** Collects problems; a check reports and goes on. */
export type Report = (
  code: DiagnosticCode,
  path: DocumentPath,
  message: string,
  details?: Partial<Pick<Problem, 'severity' | 'suggestion' | 'at' | 'range'>>,
) => void

/** A report function that appends to the list. */
export function reportInto(problems: Problem[]): Report {
  return (code, path, message, details = {}) => {
    problems.push({
      code,
      path,
      message,
      severity: details.severity ?? 'error',
      suggestion: details.suggestion ?? null,
      at: details.at ?? 'value',
      range: details.range ?? null,
    })
  }
}
