import { hash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { loadSqlite } from '../journal/load-sqlite.ts'
import { RequestError } from './problem.ts'

/** Whose key it is: keys of others are other keys. */
export interface AnswerPlace {
  readonly tenant: string
  readonly subject: string
  readonly key: string
}

/** An answer as it was sent. */
export interface KnownAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const keptMs = 24 * 60 * 60 * 1000

/** Remembers for a day what was answered to requests that name a key, also over a restart. */
export class AnswerBook {
  readonly #database: DatabaseSync
  readonly #now: () => number

  constructor(path: string, now: () => number = Date.now) {
    // For nobody else to read, as the files that SQLite puts beside it.
    if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600))
    const { DatabaseSync } = loadSqlite()
    this.#database = new DatabaseSync(path)
    this.#now = now
    this.#database.exec(
      `PRAGMA journal_mode = WAL;
       CREATE TABLE IF NOT EXISTS answers (
         tenant TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, at REAL NOT NULL,
         status INTEGER, headers TEXT, body TEXT, PRIMARY KEY (tenant, subject, key)
       ) STRICT, WITHOUT ROWID`,
    )
    // What was under way when the process ended was perhaps done: nobody knows its answer, so the key stays taken.
  }

  /** The answer to the same request under the key; null if this is the first. Throws `idempotency_conflict` for another request, or one that is under way. */
  begin({ tenant, subject, key }: AnswerPlace, request: string): KnownAnswer | null {
    const now = this.#now()
    const digest = hash('sha256', request)
    this.#database.prepare('DELETE FROM answers WHERE at < ?').run(now - keptMs)
    const { changes } = this.#database
      .prepare('INSERT OR IGNORE INTO answers (tenant, subject, key, request, at) VALUES (?, ?, ?, ?, ?)')
      .run(tenant, subject, key, digest, now)
    if (changes === 1) return null
    const known = this.#database
      .prepare(
        'SELECT request, status, headers, body FROM answers WHERE tenant = ? AND subject = ? AND key = ?',
      )
      .get(tenant, subject, key)!
    if (known['request'] !== digest)
      throw new RequestError('idempotency_conflict', 'This Idempotency-Key came before with another request.')
    if (known['status'] === null)
      throw new RequestError(
        'idempotency_conflict',
        'The first request with this Idempotency-Key is under way, or was cut off: look whether it was done.',
      )
    return {
      status: Number(known['status']),
      headers: JSON.parse(String(known['headers'])) as Record<string, string>,
      body: String(known['body']),
    }
  }

  /** Keeps the answer. */
  finish({ tenant, subject, key }: AnswerPlace, { status, headers, body }: KnownAnswer): void {
    this.#database
      .prepare(
        'UPDATE answers SET status = ?, headers = ?, body = ? WHERE tenant = ? AND subject = ? AND key = ?',
      )
      .run(status, JSON.stringify(headers), body, tenant, subject, key)
  }

  /** Frees the key of a request that was refused. */
  forget({ tenant, subject, key }: AnswerPlace): void {
    this.#database
      .prepare('DELETE FROM answers WHERE tenant = ? AND subject = ? AND key = ?')
      .run(tenant, subject, key)
  }

  close(): void {
    this.#database.close()
  }
}
