import type { Diagnostic } from '../../../src/document/diagnostic.ts'
import type { Answer } from '../server/ask.ts'

/** A finding about a text, with its place. */
export type Finding = Answer<'POST /runbooks/check'>['diagnostics'][number]

/** A diagnostic of the pure core as the gateway would send it. */
export function findingOf({
  severity,
  code,
  message,
  suggestion,
  line,
  column,
  endLine,
  endColumn,
}: Diagnostic): Finding {
  return { severity, code, message, hint: suggestion, line, column, endLine, endColumn }
}
