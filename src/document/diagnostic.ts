import type { DiagnosticCode } from './diagnostic-code.ts'

/** An error keeps a document from being used; a warning does not. */
export type Severity = 'error' | 'warning'

/** Where a value lies inside a document: keys and list positions from the root. */
export type DocumentPath = readonly (string | number)[]

/**
 * One problem in one place. Lines and columns count from 1, columns in UTF-16 units, the end is exclusive; they are
 * null when the problem has no place in a text, as with a missing file or a value built in code.
 */
export type Diagnostic = {
  readonly code: DiagnosticCode
  readonly severity: Severity
  readonly message: string
  readonly file: string | null
  readonly line: number | null
  readonly column: number | null
  readonly endLine: number | null
  readonly endColumn: number | null
  readonly suggestion: string | null
  readonly path: DocumentPath
}

/** The problem as one sentence: the message, then what to do about it. */
export function describeDiagnostic(diagnostic: Diagnostic): string {
  return diagnostic.suggestion === null
    ? diagnostic.message
    : `${diagnostic.message}, ${diagnostic.suggestion}`
}
