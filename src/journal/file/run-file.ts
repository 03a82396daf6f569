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
import { constants, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs'
import { open, readFile, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JournalEntry } from '../journal.ts'
import { readEntries } from './read-entries.ts'

const blockBytes = 65_536
/** How long an entry for which nobody waits may be unsafe. */
const soonMs = 100

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
    if (fstatSync(this.#handle.fd).size !== this.#length) return true
    if (this.#size === this.#length) return false
    const next = Buffer.alloc(1)
    readSync(this.#handle.fd, next, 0, 1, this.#size)
    return next[0] !== 0
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
    while (this.#dirty || this.#syncing !== null) {
      this.#syncing ??= this.#syncNow()
      await this.#syncing
    }
    this.#assertWhole()
  }

  /** Makes everything that was written safe, soon, while nobody waits. */
  syncSoon(): void {
    if (this.#soon !== null) return
    this.#soon = setTimeout(() => {
      this.#soon = null
      // What went wrong is told to whoever writes next (F4).
      this.sync().catch(() => undefined)
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
    await this.#syncing?.catch(() => undefined)
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

  async #syncNow(): Promise<void> {
    this.#dirty = false
    try {
      await this.#handle.datasync()
    } catch (cause) {
      this.#broken ??= { cause }
    } finally {
      this.#syncing = null
    }
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
