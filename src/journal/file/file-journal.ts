import { fstatSync, writeSync } from 'node:fs'
import { mkdir, open, readFile, readdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { LockstepError } from '../../shared/lockstep-error.ts'
import { makeEntries } from '../check-append.ts'
import {
  journalVersion,
  type AppendOptions,
  type Journal,
  type JournalEntry,
  type JournalFact,
} from '../journal.ts'
import { releaseLock, takeLock } from './run-lock.ts'

/** What is known of an open run: where its file ends and which entry was the last. */
interface OpenRun {
  readonly handle: FileHandle
  size: number
  lastSeq: number
}

const suffix = '.jsonl'

/**
 * A journal in a folder: one file per run, one entry per line, synced before an append returns. A line that a crash cut short is
 * not an entry and is removed by the next writer. A lock keeps other processes from a run that is being written to; two writers in one
 * process are found out by the size of the file.
 */
export class FileJournal implements Journal {
  readonly #folder: string
  readonly #open = new Map<string, OpenRun>()
  #queue: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(folder: string) {
    this.#folder = folder
  }

  append(
    run: string,
    facts: readonly JournalFact[],
    options: AppendOptions,
  ): Promise<readonly JournalEntry[]> {
    const work = this.#queue.then(() => this.#append(run, facts, options))
    this.#queue = work.catch(() => undefined)
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
    await this.#queue
    this.#closed = true
    for (const [run, { handle }] of this.#open) {
      await handle.close()
      releaseLock(this.#lock(run))
    }
    this.#open.clear()
  }

  async #append(
    run: string,
    facts: readonly JournalFact[],
    options: AppendOptions,
  ): Promise<readonly JournalEntry[]> {
    if (this.#closed) throw new LockstepError('journal_closed', 'The journal is closed.')
    // Checked before the name becomes a path.
    makeEntries(run, [], options, options.expectedSeq)
    const opened = this.#open.get(run) ?? (await this.#openRun(run))
    // What only touches memory is done here: handing it to another thread takes longer than the work itself.
    const { size } = fstatSync(opened.handle.fd)
    if (size !== opened.size) {
      throw new LockstepError('journal_conflict', `Another process has written to run ${run}.`, {
        consequence: 'pause',
        hint: 'Read the run again and continue from there.',
      })
    }
    const entries = makeEntries(run, facts, options, opened.lastSeq)
    const bytes = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    await this.#write(run, opened, bytes)
    opened.size += bytes.length
    opened.lastSeq += entries.length
    return entries
  }

  async #write(run: string, opened: OpenRun, bytes: Buffer): Promise<void> {
    try {
      const written = writeSync(opened.handle.fd, bytes, 0, bytes.length, opened.size)
      if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`)
      await opened.handle.datasync()
    } catch (cause) {
      // What reached the disk is unknown: the next writer opens the file anew and looks.
      this.#open.delete(run)
      await opened.handle.close().catch(() => undefined)
      throw new LockstepError(
        'journal_unwritable',
        `Run ${run} could not be written to ${this.#path(run)}.`,
        {
          cause,
          consequence: 'pause',
        },
      )
    }
  }

  async #openRun(run: string): Promise<OpenRun> {
    const path = this.#path(run)
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    takeLock(this.#lock(run), run)
    const handle = await open(path, 'a+', 0o600).then(async (created) => {
      await created.close()
      return await open(path, 'r+')
    })
    const { entries, size } = readEntries(await readFile(path, 'utf8'), path)
    await handle.truncate(size)
    const opened = { handle, size, lastSeq: entries.length }
    this.#open.set(run, opened)
    return opened
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

/** The whole lines of a file as entries, and how many bytes they take. */
function readEntries(text: string, path: string): { entries: JournalEntry[]; size: number } {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const lines = whole === '' ? [] : whole.slice(0, -1).split('\n')
  const entries = lines.map((line, index) => readEntry(line, index + 1, path))
  return { entries, size: Buffer.byteLength(whole) }
}

function readEntry(line: string, seq: number, path: string): JournalEntry {
  let entry: Partial<JournalEntry> | null = null
  try {
    entry = JSON.parse(line) as Partial<JournalEntry>
  } catch {
    // Falls through to the one error below: a line that is no JSON is no entry.
  }
  if (entry?.v === journalVersion && entry.seq === seq) return entry as JournalEntry
  throw new LockstepError(
    'journal_unreadable',
    `Line ${seq} of ${path} is not entry ${seq} of a journal of version ${journalVersion}.`,
    {
      hint: 'The file was changed or belongs to another version of Lockstep. Restore it from a copy.',
    },
  )
}
