import type { Diagnostic } from '../document/diagnostic.ts'
import { LineIndex } from '../document/line-index.ts'
import { renderDiagnostic } from '../document/render-diagnostic.ts'
import type { ProgramTool } from '../playbook/markdown/callables.ts'
import type { ParsedProgram } from '../playbook/markdown/parse-program.ts'
import type { Program } from '../playbook/program.ts'
import { readProgram } from '../source/read-program.ts'
import { knownTools } from './known-tools.ts'
import type { Terminal } from './terminal.ts'

/** What came of reading a Markdown file, and the lines that its diagnostics are about. */
export interface MarkdownReading extends ParsedProgram {
  /** The texts it was read from, by file: its own and those it imports. */
  readonly texts: ReadonlyMap<string, string>
  readonly quote: (diagnostic: Diagnostic) => string
}

/** How a Markdown file is read. */
export interface MarkdownOptions {
  readonly tools?: readonly ProgramTool[]
  /** Whether those are all tools; a call of another is then a mistake. */
  readonly complete?: boolean
  /** Read in place of what the file holds. */
  readonly text?: string
  /** Leaves out what the lock file says. */
  readonly withoutLock?: boolean
}

/** Reads a Markdown playbook with what it imports and what its lock file says; nothing is thrown for any file. */
export function readMarkdown(path: string, options: MarkdownOptions = {}): MarkdownReading {
  const { tools, complete = true, text, withoutLock = false } = options
  const first = readProgram(path, { tools, text, withoutLock })
  const unknown = complete ? [] : first.diagnostics.filter(isUnknown)
  const { texts, ...parsed } =
    unknown.length === 0
      ? first
      : readProgram(path, { tools: [...(tools ?? []), ...standIns(unknown, first.texts)], text, withoutLock })
  const indexes = new Map<string, LineIndex>()
  const quote = ({ file, line }: Diagnostic) => {
    const name = file ?? path
    if (line === null || !texts.has(name)) return ''
    if (!indexes.has(name)) indexes.set(name, new LineIndex(texts.get(name)!))
    return indexes.get(name)!.lineText(line)
  }
  return { ...parsed, texts, diagnostics: [...parsed.diagnostics, ...unknown.map(doubtful)], quote }
}

function isUnknown({ code, severity }: Diagnostic): boolean {
  return severity === 'error' && (code === 'unknown_call' || code === 'unknown_tool')
}

/** Where not all tools are known, a call of something unknown may be right. */
function doubtful(diagnostic: Diagnostic): Diagnostic {
  const message = `${diagnostic.message}, unless a module or an MCP server of the configuration has it`
  return { ...diagnostic, severity: 'warning', message }
}

/** Tools in place of those that nobody could look at: they take whatever they are given, so that the rest can be judged. */
function standIns(unknown: readonly Diagnostic[], texts: ReadonlyMap<string, string>): ProgramTool[] {
  const keywords = [...texts.values()].flatMap(
    (text) => text.match(/[\p{L}_][\p{L}\p{N}_]*(?=\s*=(?!=))/gu) ?? [],
  )
  const positions = Array.from({ length: 50 }, (_, index) => `argument_${index + 1}`)
  const parameters = [...positions, ...new Set(keywords)]
  const names = unknown.flatMap(({ message }) => /`([A-Za-z_][\w./-]*)`/.exec(message)?.[1] ?? [])
  return [...new Set(names)].map((name) => ({ name, parameters, risk: 'irreversible' }))
}

/** The program of a Markdown file; its problems are shown, and there is none if one is an error. */
export async function openMarkdown(
  path: string,
  config: string | undefined,
  terminal: Terminal,
  tools?: readonly ProgramTool[],
): Promise<Program | null> {
  const { program, diagnostics, quote } = readMarkdown(path, {
    tools: tools ?? (await knownTools(path, config, terminal)),
  })
  if (program === null) {
    showDiagnostics(diagnostics, terminal, quote)
    terminal.err(`Mend it first; lockstep check ${path} says the same.\n`)
  }
  return program
}

/** Shows problems to people, beside the output. */
export function showDiagnostics(
  diagnostics: readonly Diagnostic[],
  terminal: Terminal,
  quote?: (diagnostic: Diagnostic) => string,
): void {
  for (const diagnostic of diagnostics) {
    const lineText = quote === undefined ? {} : { lineText: () => quote(diagnostic) }
    terminal.err(
      `${renderDiagnostic(diagnostic, { format: 'pretty', colour: terminal.colour, ...lineText })}\n\n`,
    )
  }
}
