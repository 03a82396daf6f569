import type { Diagnostic } from '../document/diagnostic.ts'
import { parseProgram } from './markdown/parse-program.ts'
import { parsePlaybook } from './parse-playbook.ts'
import type { Playbook } from './playbook.ts'
import { programPlaybook } from './program-playbook.ts'
import { type KnownTool, programTool } from './program-tool.ts'

/** What came of reading a playbook: it is null where there are errors. */
export interface ReadText {
  readonly playbook: Playbook | null
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Reads and judges the text of a playbook in any form, with the tools there are. A call of a tool that there is not is a warning where the text alone says what it means: it may be
 * there where the playbook runs.
 */
export function readText(
  text: string,
  format: 'yaml' | 'json' | 'markdown',
  tools: readonly KnownTool[],
  id = 'playbook',
): ReadText {
  if (format === 'markdown') return readMarkdown(text, tools, id)
  const facts = new Map(tools.map((tool) => [tool.name, tool]))
  const strict = parsePlaybook(text, { format, facts, tools: [...facts.keys()] })
  const strange = strict.diagnostics.filter(isStrange)
  if (strange.length === 0) return strict
  const { playbook, diagnostics } = parsePlaybook(text, { format, facts })
  const said = strange.map((each) => ({ ...each, severity: 'warning' as const }))
  return {
    playbook,
    diagnostics: [...diagnostics.filter((each) => !isStrange(each)), ...said].toSorted(byPlace),
  }
}

function isStrange({ code, severity }: Diagnostic): boolean {
  return code === 'unknown_tool' && severity === 'error'
}

function byPlace(one: Diagnostic, other: Diagnostic): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}

/** What a text imports lies in files, and here are none. */
const noImport = () => ({
  problem: 'a playbook in the library imports no files; serve a checkout with --from',
})

function readMarkdown(text: string, tools: readonly KnownTool[], id: string): ReadText {
  const file = 'playbook.md'
  const { program, diagnostics } = parseProgram([{ file, text }], {
    tools: tools.map(programTool),
    resolveImport: noImport,
  })
  return { playbook: program === null ? null : programPlaybook(program, id), diagnostics }
}
