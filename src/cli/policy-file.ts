import type { Diagnostic } from '../document/diagnostic.ts'
import { renderDiagnostic } from '../document/render-diagnostic.ts'
import type { SourceDocument } from '../document/source-document.ts'
import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { readSourceFile } from '../source/read-source-file.ts'
import type { Terminal } from './terminal.ts'

/** What was found in one file; the document is null where there was nothing to read. */
export type ReadPolicy = {
  readonly path: string
  readonly policy: CompiledPolicy | null
  readonly diagnostics: readonly Diagnostic[]
  readonly document: SourceDocument | null
}

/** Reads a policy file; everything that can go wrong is a value. */
export function readPolicyFile(path: string, tools?: readonly string[]): ReadPolicy {
  const source = readSourceFile(path)
  if (source.text === null) return { path, policy: null, diagnostics: [source.problem], document: null }
  const { policy, diagnostics, document } = parsePolicy(source.text, {
    format: source.format,
    file: path,
    tools,
  })
  return { path, policy: policy === null ? null : compilePolicy(policy), diagnostics, document }
}

/** Shows problems to people, each with the line it stands in. */
export function showProblems(
  { diagnostics, document }: Pick<ReadPolicy, 'diagnostics' | 'document'>,
  write: (text: string) => void,
  terminal: Terminal,
): void {
  const lineText = document === null ? undefined : (line: number) => document.lines.lineText(line)
  for (const diagnostic of diagnostics.slice(0, 50)) {
    const options = {
      format: 'pretty',
      colour: terminal.colour,
      ...(lineText === undefined ? {} : { lineText }),
    } as const
    write(`${renderDiagnostic(diagnostic, options)}\n\n`)
  }
  if (diagnostics.length > 50) write(`... and ${diagnostics.length - 50} more in this file\n\n`)
}

/** A number with its noun. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
