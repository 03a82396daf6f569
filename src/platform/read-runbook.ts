import type { z } from 'zod'
import type { diagnostic, playbookFormat, reading } from '../api/text-routes.ts'
import type { Diagnostic } from '../document/diagnostic.ts'
import type { ToolRisks } from '../playbook/explain/phrase-call.ts'
import { readBack } from '../playbook/explain/read-back.ts'
import { parseProgram } from '../playbook/markdown/parse-program.ts'
import { parsePlaybook } from '../playbook/parse-playbook.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { programPlaybook } from '../playbook/program-playbook.ts'
import { type KnownTool, programTool } from '../playbook/program-tool.ts'

/** How a playbook is spelled. */
export type PlaybookFormat = z.infer<typeof playbookFormat>
/** A finding as it is sent. */
export type SentDiagnostic = z.infer<typeof diagnostic>
/** What a playbook is, as it is sent. */
export type Reading = z.infer<typeof reading>

/** What came of reading a playbook: it is null where there are errors. */
export interface ReadRunbook {
  readonly playbook: Playbook | null
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Reads and judges the text of a playbook in any form, with the tools there are. A call of a tool that there is not is a warning where the text alone says what it means: it may be
 * there where the playbook runs.
 */
export function readRunbook(
  text: string,
  format: PlaybookFormat,
  tools: readonly KnownTool[],
  id = 'playbook',
): ReadRunbook {
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

function readMarkdown(text: string, tools: readonly KnownTool[], id: string): ReadRunbook {
  const file = 'playbook.md'
  const { program, diagnostics } = parseProgram([{ file, text }], {
    tools: tools.map(programTool),
    resolveImport: noImport,
  })
  return { playbook: program === null ? null : programPlaybook(program, id), diagnostics }
}

/** The name as the id of a playbook may be spelled. */
export function playbookId(name: string): string {
  const id = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]+/g, '-')
    .replaceAll(/^[^a-z0-9_]+|-+$/g, '')
  return id === '' ? 'playbook' : id.slice(0, 128)
}

/** The findings as they are sent. */
export function sendDiagnostics(diagnostics: readonly Diagnostic[]): SentDiagnostic[] {
  return diagnostics.map(({ severity, code, message, suggestion, line, column, endLine, endColumn }) => ({
    severity,
    code,
    message,
    hint: suggestion,
    line,
    column,
    endLine,
    endColumn,
  }))
}

/** What a playbook is, as it is sent. */
export function sendReading(playbook: Playbook, tools: readonly KnownTool[]): Reading {
  const risks: ToolRisks = new Map(tools.map(({ name, risk }) => [name, risk ?? 'irreversible']))
  return readBack(playbook, risks) as Reading
}
