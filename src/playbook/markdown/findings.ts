import type { DiagnosticCode } from '../../document/diagnostic-code.ts'
import type { Diagnostic, Severity } from '../../document/diagnostic.ts'
import { type MarkdownText, placeInText } from '../../document/markdown-block.ts'
import type { MarkdownLine } from '../../document/markdown-line.ts'

/** A stretch of a text: all of it where no range is given. */
export interface Place {
  readonly text: MarkdownText
  readonly start?: number
  readonly end?: number
}

/** More of one kind than this helps nobody; a hostile text could make a million. */
const mostFindings = 500

/** So many mistakes get advice of that kind. */
const mostAdvised = 100

/** Collects what is wrong with a program, each finding with its place. */
export class Findings {
  readonly diagnostics: Diagnostic[] = []
  #silent = 0
  #advised = 0

  error(
    code: DiagnosticCode,
    at: Place | MarkdownLine,
    message: string,
    suggestion: string | null = null,
  ): void {
    this.#add('error', code, at, message, suggestion)
  }

  warn(
    code: DiagnosticCode,
    at: Place | MarkdownLine,
    message: string,
    suggestion: string | null = null,
  ): void {
    this.#add('warning', code, at, message, suggestion)
  }

  /** Runs a trial whose findings do not count. */
  quietly<T>(work: () => T): T {
    this.#silent++
    try {
      return work()
    } finally {
      this.#silent--
    }
  }

  #add(
    severity: Severity,
    code: DiagnosticCode,
    at: Place | MarkdownLine,
    message: string,
    suggestion: string | null,
  ): void {
    if (this.#silent > 0) return
    // Errors always count: a program with one must not pass because of many warnings before it.
    if (this.diagnostics.length >= mostFindings && (severity === 'warning' || this.hasErrors)) return
    this.diagnostics.push({ code, severity, message, suggestion, path: [], ...span(at) })
  }

  /** Whether advice that takes long to find is still worth finding; each answer of yes counts. */
  mayAdvise(): boolean {
    return ++this.#advised <= mostAdvised
  }

  /** Whether nothing more would be kept, so that nobody need find the words for it. */
  get isFull(): boolean {
    return this.#silent > 0 || (this.diagnostics.length >= mostFindings && this.hasErrors)
  }

  /** Whether a warning would not be kept. */
  get isFullOfWarnings(): boolean {
    return this.#silent > 0 || this.diagnostics.length >= mostFindings
  }

  /** Whether there is an error on a line of that text. */
  hasErrorAt({ pieces }: MarkdownText): boolean {
    return this.diagnostics.some(
      ({ severity, line, file }) =>
        severity === 'error' && pieces.some((each) => each.line.number === line && each.line.file === file),
    )
  }

  get hasErrors(): boolean {
    return this.diagnostics.some((each) => each.severity === 'error')
  }
}

function span(
  at: Place | MarkdownLine,
): Pick<Diagnostic, 'file' | 'line' | 'column' | 'endLine' | 'endColumn'> {
  if ('number' in at) {
    const end = Math.max(1, at.text.trimEnd().length - at.shift + 1)
    const column = Math.min(end, Math.max(0, at.text.length - at.text.trimStart().length - at.shift) + 1)
    return { file: at.file, line: at.number, column, endLine: at.number, endColumn: end }
  }
  const { text, start = 0, end = text.text.length } = at
  const from = placeInText(text, start)
  const to = placeInText(text, Math.max(start, end))
  return {
    file: from.line.file,
    line: from.line.number,
    column: from.column,
    endLine: to.line.number,
    endColumn: to.column,
  }
}

/** A line of a program, short enough to quote. */
export function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return `\`${line.length > 80 ? `${line.slice(0, 77)}...` : line}\``
}
