/**
 * The file of one run: its entries as lines, and while it is open zero bytes after them.
 *
 * Owns: one handle, where the entries end, and what has reached the disk.
 *
 * Invariants
 * F1  An entry has left the process when `write` returns: the process may die, the entry stays. It is safe from a power failure when
 *     `sync` returns, and everything before it is too.
 * F2  Space is taken ahead, in blocks of zero bytes. Syncing bytes inside a file takes a fraction of the time of syncing a file that
 *     grows, because its size and place need not be written as well.
 * F3  JSON has no zero byte. So a line with one in it, or without its end, was not whole when the machine stopped: it was never answered
 *     for, and neither was anything after it. The next writer removes it.
 * F4  After a sync that failed nobody knows what is on the disk: nothing more is written through this handle.
 */
import { constants, fdatasyncSync, ftruncateSync, readSync, writeSync } from 'node:fs'
import { open, readFile, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JournalEntry } from '../journal.ts'
import { readEntries } from './read-entries.ts'

const blockBytes = 65_536
/** How long an entry for which nobody waits may be unsafe. */
const soonMs = 100

/** A disk that answers within this is not asked through another thread: to go there and back takes as long. */
const quickMs = 1
/** The byte behind the last entry is read into this. */
const next = Buffer.alloc(1)

const openFiles = new Set<RunFile>()
process.once('exit', () => {
  for (const file of openFiles) file.trim()
})

/** A run that is open for writing. */
export class RunFile {
  lastSeq: number
  readonly #handle: FileHandle
  #size: number
  /** How long the file is, with the space taken ahead. */
  #length: number
  #dirty = false
  #syncing: Promise<void> | null = null
  /** How long the last sync took. */
  #syncMs = Number.POSITIVE_INFINITY
  #soon: NodeJS.Timeout | null = null
  #broken: { readonly cause: unknown } | null = null

  private constructor(handle: FileHandle, size: number, lastSeq: number) {
    this.#handle = handle
    this.#size = size
    this.#length = size
    this.lastSeq = lastSeq
    openFiles.add(this)
  }

  /** Opens a run's file, which is made if there is none, behind its last whole entry (F3). Throws `journal_unreadable`. */
  static async open(path: string): Promise<{ file: RunFile; entries: readonly JournalEntry[] }> {
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    try {
      const { entries, size } = readEntries(await readFile(path, 'utf8'), path)
      await handle.truncate(size)
      if (size === 0) await syncFolder(dirname(path))
      return { file: new RunFile(handle, size, entries.length), entries }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Says whether somebody else has written to the file meanwhile. */
  isStale(): boolean {
    // Whoever opens the file cuts it behind its last entry, so either the space taken ahead is gone or something lies in it.
    const read = readSync(this.#handle.fd, next, 0, 1, this.#size)
    return read !== (this.#size < this.#length ? 1 : 0) || (read === 1 && next[0] !== 0)
  }

  /** Writes behind the last entry (F1). Throws what the system threw, and then nothing can be said of the file. */
  write(bytes: Buffer, entries: number): void {
    this.#assertWhole()
    // What only touches memory is done here: handing it to another thread takes longer than the work itself.
    const end = this.#size + bytes.length
    const taken = end <= this.#length ? bytes : Buffer.concat([bytes], bytes.length + blockBytes)
    this.#dirty = true
    const written = writeSync(this.#handle.fd, taken, 0, taken.length, this.#size)
    if (written < taken.length) throw new Error(`only ${written} of ${taken.length} bytes were written`)
    this.#length = Math.max(this.#length, this.#size + taken.length)
    this.#size = end
    this.lastSeq += entries
  }

  /** Waits until everything that was written is safe (F1). */
  async sync(): Promise<void> {
    // One slow answer, and the next ones are waited for elsewhere again: nothing else stands still for long.
    if (this.#dirty && this.#syncing === null && this.#syncMs < quickMs) this.#syncHere()
    await this.#drain()
    this.#assertWhole()
  }

  /** Makes everything that was written safe, soon, while nobody waits. */
  syncSoon(): void {
    if (this.#soon !== null) return
    this.#soon = setTimeout(() => {
      this.#soon = null
      // What went wrong is told to whoever writes next (F4).
      void this.#drain()
    }, soonMs)
    this.#soon.unref()
  }

  /** Makes everything safe, gives back the space that was taken ahead, and lets go of the file. */
  async close(): Promise<void> {
    try {
      await this.sync()
      this.trim()
    } finally {
      await this.drop()
    }
  }

  /** Lets go of the file as it is. */
  async drop(): Promise<void> {
    if (this.#soon !== null) clearTimeout(this.#soon)
    openFiles.delete(this)
    await this.#syncing
    await this.#handle.close().catch(() => undefined)
  }

  /** Gives back the space that was taken ahead. */
  trim(): void {
    try {
      if (this.#length === this.#size || this.isStale()) return
      ftruncateSync(this.#handle.fd, this.#size)
      this.#length = this.#size
    } catch {
      // Zero bytes at the end harm nobody: every reader stops before them.
    }
  }

  async #drain(): Promise<void> {
    while (this.#dirty || this.#syncing !== null) {
      this.#syncing ??= this.#syncElsewhere().finally(() => {
        this.#syncing = null
      })
      await this.#syncing
    }
  }

  #syncHere(): void {
    this.#dirty = false
    const began = performance.now()
    try {
      fdatasyncSync(this.#handle.fd)
    } catch (cause) {
      this.#broken ??= { cause }
    }
    this.#syncMs = performance.now() - began
  }

  async #syncElsewhere(): Promise<void> {
    this.#dirty = false
    const began = performance.now()
    try {
      await this.#handle.datasync()
    } catch (cause) {
      this.#broken ??= { cause }
    }
    this.#syncMs = performance.now() - began
  }

  #assertWhole(): void {
    if (this.#broken !== null) throw this.#broken.cause
  }
}

/** A new file lasts only once the folder that names it does; where a folder cannot be synced, the system sees to that itself. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}
