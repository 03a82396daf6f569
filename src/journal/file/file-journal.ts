/**
 * A journal in a folder: one file per run, one entry per line.
 *
 * Owns: which run is which file, and the order of the appends to each.
 * Talks to: the files (run-file.ts), which say what is written and what is safe; the lock that keeps other processes from a run.
 *
 * What is waited for. An intent has left the process before its call is made, always: if it cannot be written, the call is not made (G16).
 * An append waits besides until it is safe from a power failure, with one `fdatasync`, unless the writer says `lazy`. Lazy may be what
 * nothing outside depends on: the intent of a tool that only reads, and the outcome of a call that succeeded. If a power failure takes
 * the last of these, the run is where it would be had the machine stopped a moment sooner: a read is made again, and of any other call
 * the intent is there, so that its outcome is asked for and the call is not repeated. Entries are lost from the end only, never from the
 * middle, because they lie in one file.
 *
 * What is not here. Runs in files share nothing with each other, so reservations are refused; and the record has no chain, so that who can
 * write to the folder can change it.
 *
 * Two writers. A lock keeps other processes from a run that is being written to; two writers in one process are found out by what lies
 * behind the last entry.
 */
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { digest } from '../../shared/digest.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import { checkHead, copyFacts, placeFacts } from '../check-append.ts'
import type { AppendOptions, JournalEntry, JournalFact, LeasedJournal } from '../journal.ts'
import type { LazyAppend } from '../lazy-append.ts'
import { readEntries } from './read-entries.ts'
import { RunFile } from './run-file.ts'
import { releaseLock, takeLock } from './run-lock.ts'

const suffix = '.jsonl'
const documents = 'documents'

/** A journal in a folder: one file per run, one entry per line, safe before an append returns. What a crash cut short is no entry. */
export class FileJournal implements LeasedJournal {
  readonly #folder: string
  readonly #open = new Map<string, RunFile>()
  readonly #locked = new Set<string>()
  /** The tenant of each open run that has entries. */
  readonly #tenants = new Map<string, string>()
  /** The last append of each run: the next one waits for it. */
  readonly #queues = new Map<string, Promise<unknown>>()
  #closed = false

  constructor(folder: string) {
    this.#folder = folder
  }

  append(
    run: string,
    facts: readonly JournalFact[],
    options: AppendOptions & LazyAppend,
  ): Promise<readonly JournalEntry[]> {
    return this.#inTurn(run, () => this.#append(run, facts, options))
  }

  takeLease(run: string): Promise<number> {
    return this.#inTurn(run, async () => {
      this.#assertOpen()
      copyFacts(run, [])
      const epoch = (await this.#epoch(run)) + 1
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      takeLock(this.#lock(run), run)
      this.#locked.add(run)
      await writeWhole(this.#lease(run), String(epoch))
      return epoch
    })
  }

  /** Keeps other processes from writing to a run until the journal is closed. Throws `journal_conflict` if one already does. */
  claim(run: string): Promise<void> {
    return this.#inTurn(run, async () => {
      this.#assertOpen()
      copyFacts(run, [])
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      takeLock(this.#lock(run), run)
      this.#locked.add(run)
    })
  }

  /** Keeps a text that runs refer to by its digest, and gives that digest. */
  async keep(text: string): Promise<string> {
    const name = digest(text)
    if ((await this.kept(name)) !== null) return name
    await mkdir(join(this.#folder, documents), { recursive: true, mode: 0o700 })
    await writeWhole(this.#document(name), text)
    return name
  }

  /** The text with the digest; null if none was kept, or it was changed. */
  async kept(name: string): Promise<string | null> {
    if (!/^sha256:[0-9a-f]{64}$/.test(name)) return null
    const text = await readText(this.#document(name))
    return text !== null && digest(text) === name ? text : null
  }

  #inTurn<Result>(run: string, task: () => Promise<Result>): Promise<Result> {
    const work = (this.#queues.get(run) ?? Promise.resolve()).then(task)
    const queue: Promise<unknown> = work
      .catch(() => undefined)
      .then(() => {
        if (this.#queues.get(run) === queue) this.#queues.delete(run)
      })
    this.#queues.set(run, queue)
    return work
  }

  async read(run: string, fromSeq = 1): Promise<readonly JournalEntry[]> {
    const text = await readText(this.#path(run))
    return text === null ? [] : readEntries(text, this.#path(run)).entries.slice(Math.max(0, fromSeq - 1))
  }

  async runs(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    return names
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length))
      .sort()
  }

  async close(): Promise<void> {
    await Promise.all(this.#queues.values())
    this.#closed = true
    for (const file of this.#open.values()) await file.close()
    for (const run of this.#locked) releaseLock(this.#lock(run))
    this.#open.clear()
    this.#locked.clear()
  }

  async #append(
    run: string,
    facts: readonly JournalFact[],
    options: AppendOptions & LazyAppend,
  ): Promise<readonly JournalEntry[]> {
    this.#assertOpen()
    // Checked before the name becomes a path.
    const copied = copyFacts(run, facts)
    assertNothingShared(options)
    const file = await this.#fileOf(run)
    const epoch = options.leaseEpoch === undefined ? 0 : await this.#epoch(run)
    checkHead(run, options, { seq: file.lastSeq, tenant: this.#tenants.get(run) ?? null, epoch })
    const entries = placeFacts(run, copied, options, file.lastSeq)
    if (entries.length === 0) return entries
    this.#tenants.set(run, options.tenant)
    try {
      file.write(Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')), entries.length)
      if (options.lazy === true) file.syncSoon()
      else await file.sync()
      return entries
    } catch (cause) {
      // What reached the disk is unknown: the next writer opens the file anew and looks.
      this.#open.delete(run)
      await file.drop()
      throw new LockstepError(
        'journal_unwritable',
        `Run ${run} could not be written to ${this.#path(run)}.`,
        { cause, consequence: 'pause' },
      )
    }
  }

  /** The open file of a run; opened anew where another writer was in it, so that whoever expects what it wrote may go on. */
  async #fileOf(run: string): Promise<RunFile> {
    const known = this.#open.get(run)
    if (known !== undefined && !known.isStale()) return known
    this.#open.delete(run)
    await known?.drop()
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    takeLock(this.#lock(run), run)
    this.#locked.add(run)
    const { file, entries } = await RunFile.open(this.#path(run))
    this.#open.set(run, file)
    if (entries[0] === undefined) this.#tenants.delete(run)
    else this.#tenants.set(run, entries[0].tenant)
    return file
  }

  #assertOpen(): void {
    if (this.#closed) throw new LockstepError('journal_closed', 'The journal is closed.')
  }

  /** The newest lease of the run; 0 if none was taken. */
  async #epoch(run: string): Promise<number> {
    return Number((await readText(this.#lease(run))) ?? 0)
  }

  #lease(run: string): string {
    return join(this.#folder, `${run}.lease`)
  }

  #document(name: string): string {
    return join(this.#folder, documents, `${name.slice('sha256:'.length)}.json`)
  }

  #lock(run: string): string {
    return join(this.#folder, `${run}.lock`)
  }

  #path(run: string): string {
    return join(this.#folder, `${run}${suffix}`)
  }
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Writes a small file so that it is there whole or not at all. */
async function writeWhole(path: string, text: string): Promise<void> {
  const aside = `${path}.${process.pid}.new`
  await writeFile(aside, text, { mode: 0o600, flush: true })
  await rename(aside, path)
}

function assertNothingShared({ reservations = [], releases = [] }: AppendOptions): void {
  if (reservations.length === 0 && releases.length === 0) return
  throw new LockstepError('not_available', 'A journal in files shares no counters and locks between runs.', {
    hint: 'Use the SQLite journal where runs share limits or targets.',
  })
}
