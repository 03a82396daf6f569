import type { Diagnostic } from '../document/diagnostic.ts'
import { type DocumentFormat, parseDocument } from '../document/parse-document.ts'
import type { SourceDocument } from '../document/source-document.ts'
import { checkPolicy, type PolicyCheckOptions } from './check-policy.ts'
import type { Policy } from './policy.ts'

/** What came of reading a policy: the policy unless there are errors, every problem, and the text with its places. */
export interface ParsedPolicy {
  readonly policy: Policy | null
  readonly diagnostics: readonly Diagnostic[]
  readonly document: SourceDocument
}

/** Reads and judges the text of a policy; problems are values with places, nothing is thrown. */
export function parsePolicy(
  text: string,
  options: PolicyCheckOptions & { readonly format: DocumentFormat; readonly file?: string | null },
): ParsedPolicy {
  const { document, diagnostics } = parseDocument(text, options)
  const value = document.value()
  if (value === undefined) return { policy: null, diagnostics, document }
  const { policy, problems } = checkPolicy(value, options)
  const found = [...diagnostics, ...problems.map((problem) => document.locate(problem))]
  // What stands behind an alias is judged wherever it is used, and said once.
  const once = new Map(
    found.map((each) => [[each.line, each.column, each.code, each.message].join(' '), each]),
  )
  const all = [...once.values()].sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
  return { policy: diagnostics.length === 0 ? policy : null, diagnostics: all, document }
}
