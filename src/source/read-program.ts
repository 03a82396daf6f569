import { realpathSync } from 'node:fs'
import { dirname, join, relative, isAbsolute, sep } from 'node:path'
import type { Diagnostic } from '../document/diagnostic.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import type { ProgramTool } from '../playbook/markdown/callables.ts'
import type { ProgramSource } from '../playbook/markdown/expand-imports.ts'
import { type ParsedProgram, parseProgram } from '../playbook/markdown/parse-program.ts'
import { stepHash } from '../playbook/markdown/step-hash.ts'
import { checkLockedCall } from './check-locked-call.ts'
import { type LockEntry, lockPathOf, readPlaybookLock } from './playbook-lock.ts'
import { readTextFile } from './read-source-file.ts'

/** How a program is read from disk. */
export interface ReadProgramOptions {
  readonly tools?: readonly ProgramTool[] | undefined
  /** Read in place of what the file holds. */
  readonly text?: string | undefined
  /** Leaves out what the lock file says. */
  readonly withoutLock?: boolean
}

/** What came of reading a program from disk, and the texts it was read from. */
export interface ReadProgram extends ParsedProgram {
  readonly texts: ReadonlyMap<string, string>
}

/**
 * Reads a Markdown playbook, what it imports and its lock file. Imports do not leave the folder of the playbook. Everything that can go
 * wrong is a diagnostic. What the lock file says of bullets that are no longer there is a warning.
 */
export function readProgram(path: string, options: ReadProgramOptions = {}): ReadProgram {
  const texts = new Map<string, string>()
  const source = options.text === undefined ? readTextFile(path) : { text: options.text, problem: null }
  if (source.text === null) return { ...nothing([source.problem]), texts }
  texts.set(path, source.text)
  const resolveImport = (named: string, from: string): ProgramSource | { problem: string } => {
    const found = findImport(named, from, path)
    if ('text' in found) texts.set(found.file, found.text)
    return found
  }
  const read = (text: string, resolutions: Readonly<Record<string, string>> = {}) =>
    parseProgram([{ file: path, text }], { tools: options.tools, resolveImport, resolutions })
  const plain = read(source.text)
  if (options.withoutLock === true || plain.program === null) return { ...plain, texts }
  const lock = readPlaybookLock(path)
  const open = new Map(plain.unresolved.map((step) => [stepHash(step.text, step), step]))
  const problems = [...lock.diagnostics]
  const calls: Record<string, string> = {}
  for (const entry of lock.entries) {
    const step = open.get(entry.hash)
    if (step === undefined) problems.push(stale(path, entry, plain.unresolved))
    else if (entry.call !== null) {
      const { problem } = checkLockedCall(step, entry.call, source.text, read)
      if (problem === null) calls[entry.hash] = entry.call
      else problems.push(wrong(path, entry, problem))
    }
  }
  const settled = Object.keys(calls).length === 0 ? plain : read(source.text, calls)
  const failed = problems.some(({ severity }) => severity === 'error')
  return {
    ...settled,
    program: failed ? null : settled.program,
    diagnostics: [...settled.diagnostics, ...problems],
    texts,
  }
}

function stale(path: string, { text, step }: LockEntry, unresolved: ParsedProgram['unresolved']): Diagnostic {
  const said = JSON.stringify(text.slice(0, 80))
  const message = unresolved.some((each) => each.text === text)
    ? `the hash of ${said} (${step}) is not that of the bullet, so what is settled about it is ignored`
    : `no bullet says ${said} any more, so what is settled about it is ignored`
  const suggestion = `npx lockstep lock ${path}`
  return diagnosticWithoutPlace(
    { code: 'stale_resolution', severity: 'warning', message, suggestion },
    lockPathOf(path),
  )
}

function wrong(path: string, { text, call }: LockEntry, problem: string): Diagnostic {
  const message = `${JSON.stringify(text.slice(0, 80))} cannot mean \`${call}\`: ${problem}`
  const suggestion = 'mend the entry, or take it out and run `lockstep lock` again'
  return diagnosticWithoutPlace({ code: 'stale_resolution', message, suggestion }, lockPathOf(path))
}

function nothing(diagnostics: readonly Diagnostic[]): ParsedProgram {
  return { program: null, diagnostics, kind: 'program', unresolved: [] }
}

/** The file that an import names, if it lies below the folder of the playbook that is read. */
function findImport(named: string, from: string, main: string): ProgramSource | { problem: string } {
  if (isAbsolute(named)) return { problem: `\`${named}\` is no path below the folder of the playbook` }
  const file = join(dirname(from), named)
  try {
    const way = relative(realpathSync(dirname(main)), realpathSync(file))
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
      return { problem: `\`${named}\` leaves the folder of the playbook` }
  } catch {
    return { problem: `there is no file \`${named}\`` }
  }
  const { text, problem } = readTextFile(file)
  return text === null ? { problem: problem.message } : { file, text }
}
