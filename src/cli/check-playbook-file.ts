import type { Diagnostic } from '../document/diagnostic.ts'
import type { SourceDocument } from '../document/source-document.ts'
import { parsePlaybook } from '../playbook/parse-playbook.ts'
import { type PlaybookSecret, secretsOfPlaybook } from '../playbook/playbook-secrets.ts'
import { looksLikePolicy } from '../policy/looks-like-policy.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { isJsonObject } from '../shared/json.ts'
import { dispatchersOf } from '../source/config-dispatchers.ts'
import { findConfig, isCode, loadConfigDocument } from '../source/load-config.ts'
import { isMarkdown, playbookOfFile } from '../source/load-program.ts'
import { lockPathOf } from '../source/playbook-lock.ts'
import { readSourceFile, readTextFile } from '../source/read-source-file.ts'
import { declaredTools } from './known-tools.ts'
import { readMarkdown } from './open-markdown.ts'
import type { Terminal } from './terminal.ts'

/** What was found in one place; `isPlaybook` is false for places that hold none. */
export type CheckedFile = {
  readonly isPlaybook: boolean
  readonly diagnostics: readonly Diagnostic[]
  /** The line that a diagnostic is about. */
  readonly quote: ((diagnostic: Diagnostic) => string) | null
  /** The secrets that it needs. */
  readonly secrets?: readonly (PlaybookSecret & { readonly file: string })[]
}

/** The texts that were judged: a playbook's own, and by file those that say what it means besides. */
export interface JudgedTexts {
  readonly id: string
  readonly text: string
  readonly others: ReadonlyMap<string, string>
}

/** What came of checking one file; `judged` is null where there are errors. */
export interface CheckedPlaybookFile {
  readonly file: CheckedFile
  readonly looksLikeOne: boolean
  readonly judged: JudgedTexts | null
}

/**
 * The tools of the nearest configuration whose arguments choose the program. One in TypeScript is not looked at: checking runs no code.
 */
export function knownDispatchers(terminal: Terminal): readonly string[] {
  try {
    const path = findConfig(process.cwd())
    return path === null || isCode(path) ? [] : dispatchersOf(loadConfigDocument(path))
  } catch (error) {
    // What is wrong with the configuration is not what was asked; but that it was not considered must be said.
    terminal.err(`lockstep: not considered: ${escapeControl((error as Error).message)}\n`)
    return []
  }
}

/** Judges one file as a playbook, as every command that checks does; nothing is thrown for any file. */
export function checkPlaybookFile(
  path: string,
  dispatchers: readonly string[],
  terminal: Terminal,
): CheckedPlaybookFile {
  return isMarkdown(path) ? checkMarkdown(path, terminal) : checkDocument(path, dispatchers, terminal)
}

function checkMarkdown(path: string, terminal: Terminal): CheckedPlaybookFile {
  const { kind, program, diagnostics, quote, texts } = readMarkdown(path, declaredTools(path, terminal))
  const others = new Map([...texts].filter(([file]) => file !== path))
  // What was settled about calls in words is part of what the playbook means.
  const lock = readTextFile(lockPathOf(path))
  if (lock.text !== null) others.set(lockPathOf(path), lock.text)
  const sound = program !== null && !diagnostics.some(isError)
  return {
    file: { isPlaybook: kind === 'program', diagnostics, quote },
    looksLikeOne: kind === 'program',
    judged: sound ? { id: playbookOfFile(program, path).id, text: texts.get(path)!, others } : null,
  }
}

function checkDocument(
  path: string,
  dispatchers: readonly string[],
  terminal: Terminal,
): CheckedPlaybookFile {
  const source = readSourceFile(path)
  if (source.text === null) {
    return {
      file: { isPlaybook: true, diagnostics: [source.problem], quote: null },
      looksLikeOne: source.problem.code !== 'document_too_large',
      judged: null,
    }
  }
  const options = { format: source.format, file: path, dispatchers }
  const alone = parsePlaybook(source.text, options)
  // What is known of tools says more about calls, and about nothing else.
  const calls = alone.playbook?.steps.some((step) => step.tool !== null) ?? false
  const { declared, complete } = calls ? declaredTools(path, terminal) : { declared: [], complete: false }
  const facts = new Map(declared.map((tool) => [tool.name, tool]))
  const tools = complete ? [...facts.keys()] : undefined
  const { playbook, document, diagnostics } =
    declared.length === 0 ? alone : parsePlaybook(source.text, { ...options, facts, tools })
  const quote = ({ line }: Diagnostic) => document.lines.lineText(line ?? 0)
  const sound = playbook !== null && !diagnostics.some(isError)
  const secrets =
    playbook === null ? [] : secretsOfPlaybook(playbook).map((each) => ({ file: path, ...each }))
  return {
    file: { isPlaybook: true, diagnostics, quote, secrets },
    looksLikeOne: looksLikePlaybook(document),
    judged: sound ? { id: playbook.id, text: source.text, others: new Map() } : null,
  }
}

/** A file that could not be read as a document is judged by its text, so that a broken playbook is not passed over. */
function looksLikePlaybook(document: SourceDocument): boolean {
  // A policy has an `id` too; `lockstep policy check` judges it.
  if (looksLikePolicy(document)) return false
  const value = document.value()
  if (value === undefined)
    return (
      /^["']?(?:steps|id)["']?\s*:/m.test(document.text) || /^\s*\{\s*"(?:steps|id)"\s*:/.test(document.text)
    )
  return isJsonObject(value) && (Object.hasOwn(value, 'steps') || Object.hasOwn(value, 'id'))
}

function isError(diagnostic: Diagnostic): boolean {
  return diagnostic.severity === 'error'
}
