import { basename, extname } from 'node:path'
import type { Diagnostic } from '../document/diagnostic.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { PlaybookLoadError } from '../playbook/playbook-load-error.ts'
import { programPlaybook } from '../playbook/program-playbook.ts'
import type { Program } from '../playbook/program.ts'
import { type ReadProgramOptions, readProgram } from './read-program.ts'

/** The ends of the names of Markdown playbooks. */
export const markdownSuffixes: readonly string[] = ['.md', '.pb']

/** Whether a file is a Markdown playbook, if it is a playbook. */
export function isMarkdown(path: string): boolean {
  return markdownSuffixes.some((suffix) => path.toLowerCase().endsWith(suffix))
}

/** The playbook of a program that was read from a file. */
export function playbookOfFile(program: Program, file: string): Playbook {
  return programPlaybook(program, idOf(file))
}

/** Loads a Markdown playbook with what it imports and what its lock file says. Throws PlaybookLoadError with every problem found. */
export function loadProgram(file: string, options: ReadProgramOptions = {}): Playbook {
  const { program, diagnostics } = readProgram(file, options)
  if (program !== null) return playbookOfFile(program, file)
  const errors = diagnostics.filter(({ severity }: Diagnostic) => severity === 'error')
  throw PlaybookLoadError.fromDiagnostics(errors.length > 0 ? errors : diagnostics, file)
}

/** The name of a file as an id may be spelled. */
function idOf(file: string): string {
  const name = basename(file, extname(file)).replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
  return (/^[A-Za-z0-9_]/.test(name) ? name : `p${name}`).slice(0, 128)
}
