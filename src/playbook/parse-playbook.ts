import type { Diagnostic } from '../document/diagnostic.ts'
import { type DocumentFormat, parseDocument } from '../document/parse-document.ts'
import type { SourceDocument } from '../document/source-document.ts'
import { type CheckOptions, checkPlaybook } from './check-playbook.ts'
import { CheckedPlaybook, Playbook } from './playbook.ts'

/** What came of reading a playbook: the playbook unless there are errors, every problem, and the text with its places. */
export type ParsedPlaybook = {
  readonly playbook: Playbook | null
  readonly diagnostics: readonly Diagnostic[]
  readonly document: SourceDocument
}

/** Reads and judges the text of a playbook; problems are values with places, nothing is thrown. */
export function parsePlaybook(
  text: string,
  options: CheckOptions & { readonly format: DocumentFormat; readonly file?: string | null },
): ParsedPlaybook {
  const { document, diagnostics } = parseDocument(text, options)
  const value = document.value()
  if (value === undefined) return { playbook: null, diagnostics, document }
  const { file, problems } = checkPlaybook(value, {
    tools: options.tools,
    facts: options.facts,
    dispatchers: options.dispatchers,
  })
  const all = inOrder([...diagnostics, ...problems.map((problem) => document.locate(problem))])
  const playable = file !== null && diagnostics.length === 0
  return { playbook: playable ? new Playbook(new CheckedPlaybook(file)) : null, diagnostics: all, document }
}

/** In the order of the text, each problem once: what stands behind an alias is judged wherever it is used. */
function inOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const once = new Map(diagnostics.map((diagnostic) => [identityOf(diagnostic), diagnostic]))
  return [...once.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

function identityOf({ line, column, code, message }: Diagnostic): string {
  return [line, column, code, message].join(' ')
}
