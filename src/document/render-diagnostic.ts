import { type Diagnostic, describeDiagnostic } from './diagnostic.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { type PrettyOptions, renderPretty } from './render-pretty.ts'

/** The ways to show diagnostics: to people, to editors, to programs, to GitHub. */
export const diagnosticFormats = ['pretty', 'unix', 'json', 'github'] as const

/** One of the ways to show diagnostics. */
export type DiagnosticFormat = (typeof diagnosticFormats)[number]

/** How to show a diagnostic. */
export type RenderOptions = PrettyOptions & { readonly format: DiagnosticFormat }

/** The diagnostic as text, without a final line break; nothing from a document reaches a terminal unescaped. */
export function renderDiagnostic(diagnostic: Diagnostic, options: RenderOptions): string {
  switch (options.format) {
    case 'pretty':
      return renderPretty(diagnostic, options)
    case 'unix':
      return renderUnix(diagnostic)
    case 'json':
      return escapeControl(JSON.stringify(diagnostic))
    case 'github':
      return renderGithub(diagnostic)
  }
}

function renderUnix(diagnostic: Diagnostic): string {
  const { file, line, column, severity, code } = diagnostic
  const place = `${file ?? '-'}:${line ?? 1}:${column ?? 1}`
  return escapeControl(`${place}: ${severity} ${code} ${describeDiagnostic(diagnostic)}`)
}

function renderGithub(diagnostic: Diagnostic): string {
  const { file, line, column, endLine, endColumn, severity, code } = diagnostic
  const properties = { file, line, col: column, endLine, endColumn, title: code }
  const written = Object.entries(properties)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${githubProperty(escapeControl(String(value)))}`)
  return `::${severity} ${written.join(',')}::${githubData(escapeControl(describeDiagnostic(diagnostic)))}`
}

function githubData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function githubProperty(text: string): string {
  return githubData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
