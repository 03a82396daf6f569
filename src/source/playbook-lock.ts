/**
 * What calls in words were settled to mean.
 *
 * Owns: the file `PLAYBOOK.lock.yaml` beside a Markdown playbook. People review it and may edit it.
 *
 * Invariants
 * 1. An entry counts only for the bullet whose hash it carries: who changes the bullet asks anew.
 * 2. What an entry says is checked like anything an author wrote; it gives no right that the bullet would not have.
 * 3. A file that cannot be read counts as errors of the playbook, never as no file.
 */
import { z } from 'zod'
import type { Diagnostic } from '../document/diagnostic.ts'
import { parseDocument } from '../document/parse-document.ts'
import { type Problem, reportInto } from '../document/problem.ts'
import { readSourceFile } from './read-source-file.ts'
import { writeWholeFile } from './write-whole-file.ts'

const entrySchema = z.strictObject({
  step: z.string(),
  text: z.string(),
  hash: z.string(),
  call: z.string().nullable(),
  by: z.string(),
  at: z.string(),
})

const lockSchema = z.strictObject({ version: z.literal(1), steps: z.array(entrySchema) })

/** One bullet that was settled: the call that is meant, as an author would write it, or null where none is. */
export type LockEntry = Readonly<z.infer<typeof entrySchema>>

/** What a lock file holds. */
export interface PlaybookLock {
  readonly entries: readonly LockEntry[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Where the lock file of a playbook lies. */
export function lockPathOf(file: string): string {
  return `${file}.lock.yaml`
}

/** Reads the lock file of a playbook; no file is no entries. Everything that is wrong with one is a diagnostic. */
export function readPlaybookLock(file: string): PlaybookLock {
  const path = lockPathOf(file)
  const source = readSourceFile(path)
  if (source.text === null) {
    return { entries: [], diagnostics: source.problem.code === 'file_not_found' ? [] : [source.problem] }
  }
  const { document, diagnostics } = parseDocument(source.text, { format: 'yaml', file: path })
  const value = document.value()
  if (value === undefined || diagnostics.length > 0) return { entries: [], diagnostics }
  const { data, error } = lockSchema.safeParse(value)
  if (error === undefined) return { entries: data.steps, diagnostics: [] }
  const problems: Problem[] = []
  const report = reportInto(problems)
  for (const { path: at, message } of error.issues) {
    report(
      'value_not_allowed',
      at as (string | number)[],
      `the lock file is not what it should be: ${message}`,
      {
        suggestion: `write it anew: npx lockstep lock ${file}`,
      },
    )
  }
  return { entries: [], diagnostics: problems.map((problem) => document.locate(problem)) }
}

/** Writes the lock file of a playbook, all at once. */
export function writePlaybookLock(file: string, entries: readonly LockEntry[]): void {
  writeWholeFile(lockPathOf(file), renderLock(entries))
}

/** The text of a lock file: every text in quotes, so that nothing in a bullet is YAML. */
export function renderLock(entries: readonly LockEntry[]): string {
  const lines = [
    '# What the bullets mean that call something in words. Written by `lockstep lock`; review it and keep it with the playbook.',
    '# `call: null` means that none is called: a model works on the bullet, inside a boundary.',
    'version: 1',
    entries.length === 0 ? 'steps: []' : 'steps:',
  ]
  for (const { step, text, hash, call, by, at } of entries) {
    lines.push(
      `  - step: ${JSON.stringify(step)}`,
      `    text: ${JSON.stringify(text)}`,
      `    call: ${call === null ? 'null' : JSON.stringify(call)}`,
      `    by: ${JSON.stringify(by)}`,
      `    at: ${JSON.stringify(at)}`,
      `    hash: ${JSON.stringify(hash)}`,
    )
  }
  return `${lines.join('\n')}\n`
}
