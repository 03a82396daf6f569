/**
 * Playbooks and policies of a Git checkout: what its commit holds, read-only.
 *
 * Owns: the folder `checkout` of the data folder, where the texts of the commit lie as files, because a Markdown playbook may import others.
 *
 * Invariants
 * K1  A text is the one of the commit, never what lies in the work tree.
 * K2  When another commit is checked out it is read before the next answer, as a whole. While it has errors, what was right before goes on to be served.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Diagnostic } from '../document/diagnostic.ts'
import { parseDocument } from '../document/parse-document.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { parsePlaybook } from '../playbook/parse-playbook.ts'
import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts'
import { looksLikePolicy } from '../policy/looks-like-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { digest } from '../shared/digest.ts'
import { isJsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { isMarkdown, playbookOfFile } from '../source/load-program.ts'
import { type KnownTool, programTool } from '../playbook/program-tool.ts'
import { readCommit, readHead, type Commit, type CommittedText } from '../source/read-commit.ts'
import { readProgram } from '../source/read-program.ts'

/** A version of a text. */
export interface ShelfVersion {
  readonly version: number
  readonly digest: string
  readonly by: string
  readonly at: number
  readonly note: string | null
  readonly commit: string | null
}

/** A text that is edited elsewhere. */
export interface CheckedOut {
  /** Where it comes from, a dot, and the id of the playbook or policy. */
  readonly id: string
  readonly name: string
  readonly path: string
  readonly text: string
  readonly digest: string
  readonly diagnostics: readonly Diagnostic[]
  /** The oldest first; the last is the one that is served. */
  readonly versions: readonly ShelfVersion[]
  /** The text of one of them; null if it is not at hand. */
  textOf(version: number): string | null
}

export interface CheckedOutPlaybook extends CheckedOut {
  readonly format: 'yaml' | 'json' | 'markdown'
  readonly playbook: Playbook
}

export interface CheckedOutPolicy extends CheckedOut {
  readonly policy: CompiledPolicy
}

/** Texts that are edited elsewhere. */
export interface ForeignTexts {
  /** Looks whether they are others by now. */
  current(): Promise<unknown>
  readonly state: {
    readonly playbooks: readonly CheckedOutPlaybook[]
    readonly policies: readonly CheckedOutPolicy[]
  }
}

/** Everything that a commit holds. */
export interface CheckoutState {
  readonly commit: string
  readonly playbooks: readonly CheckedOutPlaybook[]
  readonly policies: readonly CheckedOutPolicy[]
}

/** How often it is looked at most whether another commit is checked out, in milliseconds. */
const lookMs = 1000

/** The playbooks and policies of a checkout, as they are now. */
export class Checkout implements ForeignTexts {
  readonly #folder: string
  readonly #scratch: string
  readonly #tools: readonly KnownTool[]
  readonly #onTrouble: (error: unknown) => void
  readonly #now: () => number
  #state: CheckoutState
  #lookedAt: number
  #failed: string | null = null
  #reading: Promise<void> | null = null

  private constructor(options: CheckoutOptions, state: CheckoutState) {
    this.#folder = options.folder
    this.#scratch = options.scratch
    this.#tools = options.tools
    this.#onTrouble = options.onTrouble
    this.#now = options.now
    this.#state = state
    this.#lookedAt = options.now()
  }

  /** Opens a checkout. Throws `git_unavailable`, and `invalid_playbook` for a commit with errors, all of them named. */
  static async open(options: CheckoutOptions): Promise<Checkout> {
    const commit = await readCommit(options.folder).catch((error: unknown) => {
      if (!LockstepError.isInstance(error) || error.code !== 'git_unavailable') throw error
      throw new LockstepError('git_unavailable', error.message, {
        cause: error,
        hint: '--from takes a folder of a Git checkout with a commit',
      })
    })
    return new Checkout(options, readState(commit, options))
  }

  /** What it holds now (K2). */
  async current(): Promise<CheckoutState> {
    if (this.#now() - this.#lookedAt >= lookMs) {
      this.#reading ??= this.#look().finally(() => (this.#reading = null))
      await this.#reading
    }
    return this.#state
  }

  /** What it held when it was last looked at. */
  get state(): CheckoutState {
    return this.#state
  }

  async #look(): Promise<void> {
    this.#lookedAt = this.#now()
    try {
      const head = await readHead(this.#folder)
      if (head === this.#state.commit || head === this.#failed) return
      this.#failed = head
      const commit = await readCommit(this.#folder)
      this.#state = readState(commit, {
        scratch: this.#scratch,
        tools: this.#tools,
        now: this.#now,
      })
      this.#failed = null
    } catch (error) {
      this.#onTrouble(error)
    }
  }
}

/** What a checkout is made of. */
export interface CheckoutOptions {
  readonly folder: string
  /** A folder of ours for the texts of the commit. */
  readonly scratch: string
  readonly tools: readonly KnownTool[]
  readonly onTrouble: (error: unknown) => void
  readonly now: () => number
}

function readState(
  commit: Commit,
  { scratch, tools, now }: Pick<CheckoutOptions, 'scratch' | 'tools' | 'now'>,
): CheckoutState {
  const root = join(scratch, commit.id)
  for (const { path, text } of commit.texts) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, text, { mode: 0o600 })
  }
  const at = now()
  const playbooks: CheckedOutPlaybook[] = []
  const policies: CheckedOutPolicy[] = []
  const errors: string[] = []
  for (const each of commit.texts) {
    const read = readForeign(each, root, tools, 'git')
    if (read === null) continue
    if ('errors' in read) {
      errors.push(...read.errors.map((error) => `${each.path}: ${error}`))
      continue
    }
    const version = {
      version: commit.number,
      digest: read.digest,
      by: 'git',
      at,
      note: null,
      commit: commit.id,
    }
    const textOf = (wanted: number) => (wanted === commit.number ? read.text : null)
    const whole = { ...read, versions: [version], textOf }
    if ('policy' in whole) policies.push(whole)
    else playbooks.push(whole)
  }
  for (const list of [playbooks, policies]) errors.push(...twice(list))
  for (const old of readdirSync(scratch))
    if (old !== commit.id) rmSync(join(scratch, old), { recursive: true })
  if (errors.length > 0)
    throw new LockstepError(
      'invalid_playbook',
      `Commit ${commit.id.slice(0, 12)} has errors:\n  ${errors.slice(0, 20).join('\n  ')}`,
      { hint: 'lockstep check shows them with their lines' },
    )
  return { commit: commit.id, playbooks, policies }
}

function twice(list: readonly CheckedOut[]): string[] {
  const groups = Map.groupBy(list, ({ id }) => id)
  return [...groups.values()]
    .filter(({ length }) => length > 1)
    .map((same) => `${same.map(({ path }) => path).join(' and ')} have the same name`)
}

/** What was read, without the versions there are of it. */
type Read<Text extends CheckedOut> = Omit<Text, 'versions' | 'textOf'>

/** What a text is that lies as a file below the root; null if it is neither a playbook nor a policy. */
export function readForeign(
  { path, text }: CommittedText,
  root: string,
  tools: readonly KnownTool[],
  from: 'git' | 'library',
): Read<CheckedOutPlaybook> | Read<CheckedOutPolicy> | { readonly errors: string[] } | null {
  const common = { path, text, digest: digest(text) }
  if (isMarkdown(path)) {
    const file = join(root, path)
    const { program, diagnostics, kind } = readProgram(file, { tools: tools.map(programTool) })
    if (kind !== 'program') return null
    if (program === null) return failure(diagnostics)
    const playbook = playbookOfFile(program, path)
    return {
      ...common,
      id: `${from}.${playbook.id}`,
      name: playbook.name,
      diagnostics,
      format: 'markdown',
      playbook,
    }
  }
  if (!/\.(?:ya?ml|json)$/i.test(path)) return null
  const format = /\.json$/i.test(path) ? 'json' : 'yaml'
  const { document } = parseDocument(text, { format, file: path })
  if (looksLikePolicy(document)) {
    const { policy, diagnostics } = parsePolicy(text, { format, file: path })
    if (policy === null) return failure(diagnostics)
    const compiled = compilePolicy(policy)
    const { id } = compiled.ref
    return { ...common, id: `${from}.${id}`, name: id, diagnostics, policy: compiled }
  }
  const value = document.value()
  const isPlaybook = value !== undefined && isJsonObject(value) && Object.hasOwn(value, 'steps')
  if (!isPlaybook) return null
  const facts = new Map(tools.map((tool) => [tool.name, tool]))
  const { playbook, diagnostics } = parsePlaybook(text, { format, file: path, facts })
  if (playbook === null) return failure(diagnostics)
  return { ...common, id: `${from}.${playbook.id}`, name: playbook.name, diagnostics, format, playbook }
}

function failure(diagnostics: readonly Diagnostic[]): { readonly errors: string[] } {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  return { errors: errors.map(({ line, message }) => `${line === null ? '' : `line ${line}: `}${message}`) }
}
