import type { DiagnosticCode } from './diagnostic-code.ts'
import type { DocumentNode, Span } from './document-node.ts'

/** A problem of the text itself, found while it was read. */
export type TextProblem = {
  readonly code: DiagnosticCode
  readonly message: string
  readonly span: Span
  readonly suggestion?: string
}

/** What was read from a text: a tree, unless the text could not be understood, and the problems. */
export type ParsedText = { readonly root: DocumentNode | null; readonly problems: readonly TextProblem[] }
