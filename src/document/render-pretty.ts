import type { Diagnostic } from './diagnostic.ts'
import { escapeControl } from '../shared/escape-control.ts'

const widest = 110

/** What showing a diagnostic to people may need. */
export type PrettyOptions = {
  /** The text of a line of the diagnostic's file, for quoting. */
  readonly lineText?: (line: number) => string
  readonly colour?: boolean
}

/** The diagnostic for people: place, message, the line quoted with the place marked, and what to do. */
export function renderPretty(diagnostic: Diagnostic, options: PrettyOptions): string {
  const paint = options.colour === true ? colours : plain
  const { file, line, column, severity, code, message, suggestion } = diagnostic
  const place = escapeControl(`${file ?? 'playbook'}${line === null ? '' : `:${line}:${column}`}`)
  const strong = severity === 'error' ? paint.error : paint.warning
  const rows = [`${paint.bold(place)} ${strong(severity)} ${paint.dim(code)}`, `  ${escapeControl(message)}`]
  const quoted =
    line === null || options.lineText === undefined ? null : quote(diagnostic, options.lineText(line))
  if (quoted !== null) {
    const number = String(line)
    rows.push(
      `  ${paint.dim(`${number} |`)} ${quoted.text}`,
      `  ${' '.repeat(number.length)} ${paint.dim('|')} ${strong(quoted.mark)}`,
    )
  }
  if (suggestion !== null) rows.push(`  ${paint.help('help:')} ${escapeControl(suggestion)}`)
  return rows.join('\n')
}

/** The line, cut to a readable width around the place, and the marks beneath it. */
function quote(diagnostic: Diagnostic, text: string): { text: string; mark: string } | null {
  const { line, column, endLine, endColumn } = diagnostic
  if (column === null || text.trim() === '') return null
  const start = column - 1
  const end = endLine === line && endColumn !== null ? endColumn - 1 : text.trimEnd().length
  const from = start > widest - 30 ? start - 30 : 0
  const to = Math.min(text.length, from + widest)
  const before = `${from > 0 ? '...' : ''}${escapeControl(text.slice(from, start))}`
  const marked = escapeControl(text.slice(start, Math.min(end, to)))
  const after = `${escapeControl(text.slice(Math.min(end, to), to))}${to < text.length ? '...' : ''}`
  return {
    text: before + marked + after,
    mark: ' '.repeat(widthOf(before)) + '^'.repeat(Math.max(1, widthOf(marked))),
  }
}

/** How many columns a text takes in a terminal, near enough: East Asian letters and emoji take two. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text.normalize('NFC'))
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
        character,
      )
        ? 2
        : /\p{Mn}/u.test(character)
          ? 0
          : 1
  return width
}

type Paint = Record<'bold' | 'dim' | 'error' | 'warning' | 'help', (text: string) => string>

const style = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`
const same = (text: string) => text

const colours: Paint = {
  bold: style(1, 22),
  dim: style(2, 22),
  error: style(31, 39),
  warning: style(33, 39),
  help: style(36, 39),
}
const plain: Paint = { bold: same, dim: same, error: same, warning: same, help: same }
