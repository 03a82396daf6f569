import { closeSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { loadSqlite } from '../journal/load-sqlite.ts'

/** Longer than any signature counts, be it of a clock that is ahead. */
const keptMs = 60 * 60 * 1000

/**
 * Remembers which event a signature came with first, also over a restart. What names an event is not signed: so whoever caught a request
 * could send it again under another name, and it would be another event.
 */
export class SignatureBook {
  readonly #database: DatabaseSync
  readonly #now: () => number

  constructor(path: string, now: () => number = Date.now) {
    // For nobody else to read, as the files that SQLite puts beside it.
    if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600))
    const { DatabaseSync } = loadSqlite()
    this.#database = new DatabaseSync(path, { timeout: 10_000 })
    this.#now = now
    this.#database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       CREATE TABLE IF NOT EXISTS signatures (
         hook TEXT NOT NULL, signed TEXT NOT NULL, event TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (hook, signed)
       ) STRICT, WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS signatures_at ON signatures (at);`,
    )
  }

  /** The event that a hook was first told of by what was signed: the given one, if this is the first time. */
  eventOf(hook: string, signed: string, event: string): string {
    const now = this.#now()
    this.#database.prepare('DELETE FROM signatures WHERE at < ?').run(now - keptMs)
    this.#database
      .prepare('INSERT OR IGNORE INTO signatures (hook, signed, event, at) VALUES (?, ?, ?, ?)')
      .run(hook, signed, event, now)
    const known = this.#database
      .prepare('SELECT event FROM signatures WHERE hook = ? AND signed = ?')
      .get(hook, signed)
    return String(known!['event'])
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }
}
