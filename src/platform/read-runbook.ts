import type { z } from 'zod'
import type { diagnostic, playbookFormat, reading } from '../api/text-routes.ts'
import type { Diagnostic } from '../document/diagnostic.ts'
import type { ToolRisks } from '../playbook/explain/phrase-call.ts'
import { readBack } from '../playbook/explain/read-back.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { KnownTool } from '../playbook/program-tool.ts'

/** How a playbook is spelled. */
export type PlaybookFormat = z.infer<typeof playbookFormat>
/** A finding as it is sent. */
export type SentDiagnostic = z.infer<typeof diagnostic>
/** What a playbook is, as it is sent. */
export type Reading = z.infer<typeof reading>

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
