import { closeSync, openSync } from 'node:fs'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { loadSqlite } from '../journal/load-sqlite.ts'

/** What is sent to one receiver about one event, and how far that got. Times are epoch milliseconds. */
export interface Delivery {
  readonly id: string
  readonly tenant: string
  readonly webhook: string
  readonly event: string
  readonly subject: string
  readonly at: number
  readonly attempts: number
  /** `failed` is given up. */
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly status: number | null
  readonly error: string | null
  readonly nextAt: number | null
}

/** A delivery that is due, with what is sent. */
export interface DueDelivery extends Delivery {
  readonly body: string
}

/** The table of deliveries, in a file of its own: it can be thrown away, and what was not sent yet is then not sent. */
export class DeliveryRows {
  readonly #database: DatabaseSync

  constructor(path: string) {
    // For nobody else to read, as the files that SQLite puts beside it.
    if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600))
    const { DatabaseSync } = loadSqlite()
    this.#database = new DatabaseSync(path, { timeout: 10_000 })
    this.#database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       CREATE TABLE IF NOT EXISTS deliveries (
         number INTEGER PRIMARY KEY AUTOINCREMENT,
         id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, webhook TEXT NOT NULL, event TEXT NOT NULL, subject TEXT NOT NULL,
         at REAL NOT NULL, body TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL DEFAULT 'pending',
         status INTEGER, error TEXT, next_at REAL
       ) STRICT;
       CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (next_at) WHERE state = 'pending';
       CREATE INDEX IF NOT EXISTS deliveries_of ON deliveries (tenant, webhook, number);
       CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`,
    )
  }

  /** Adds a delivery that is due now; false if there is one with its id. */
  add(
    delivery: Pick<DueDelivery, 'id' | 'tenant' | 'webhook' | 'event' | 'subject' | 'at' | 'body'>,
    now: number,
  ): boolean {
    const { id, tenant, webhook, event, subject, at, body } = delivery
    const { changes } = this.#database
      .prepare(
        `INSERT OR IGNORE INTO deliveries (id, tenant, webhook, event, subject, at, body, next_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(id, tenant, webhook, event, subject, at, body, now)
    return changes === 1
  }

  /** Those that are due at a time, the longest due first. */
  due(now: number, most: number): readonly DueDelivery[] {
    return this.#database
      .prepare("SELECT * FROM deliveries WHERE state = 'pending' AND next_at <= ? ORDER BY next_at LIMIT ?")
      .all(now, most)
      .map((row) => ({ ...deliveryOf(row), body: String(row['body']) }))
  }

  /** When the next one is due; null if none waits. */
  nextAt(): number | null {
    const row = this.#database
      .prepare("SELECT MIN(next_at) AS next FROM deliveries WHERE state = 'pending'")
      .get()
    return row?.['next'] == null ? null : Number(row['next'])
  }

  /** Writes down what came of an attempt. */
  settle(
    id: string,
    { state, status, error, nextAt }: Pick<Delivery, 'state' | 'status' | 'error' | 'nextAt'>,
  ): void {
    this.#database
      .prepare(
        'UPDATE deliveries SET attempts = attempts + 1, state = ?, status = ?, error = ?, next_at = ? WHERE id = ?',
      )
      .run(state, status, error, nextAt, id)
  }

  get(id: string): Delivery | null {
    const row = this.#database.prepare('SELECT * FROM deliveries WHERE id = ?').get(id)
    return row === undefined ? null : deliveryOf(row)
  }

  /** Those of a webhook, the newest first, from after a cursor on. */
  list(
    tenant: string,
    webhook: string,
    { cursor, limit }: { readonly cursor: number | null; readonly limit: number },
  ): { readonly items: readonly Delivery[]; readonly next: number | null } {
    const rows = this.#database
      .prepare(
        'SELECT * FROM deliveries WHERE tenant = ? AND webhook = ? AND number < ? ORDER BY number DESC LIMIT ?',
      )
      .all(tenant, webhook, cursor ?? Number.MAX_SAFE_INTEGER, limit + 1)
    const shown = rows.slice(0, limit)
    const next = rows.length > limit ? Number(shown.at(-1)!['number']) : null
    return { items: shown.map(deliveryOf), next }
  }

  /** How many there are in each state. */
  counts(): Readonly<Record<Delivery['state'], number>> {
    const counts = { pending: 0, delivered: 0, failed: 0 }
    for (const row of this.#database
      .prepare('SELECT state, COUNT(*) AS count FROM deliveries GROUP BY state')
      .all())
      counts[row['state'] as Delivery['state']] = Number(row['count'])
    return counts
  }

  /** Forgets what was settled before a time. */
  forgetBefore(at: number): void {
    this.#database.prepare("DELETE FROM deliveries WHERE state <> 'pending' AND at < ?").run(at)
  }

  /** A value that is kept beside the deliveries. */
  read(key: string): string | null {
    const row = this.#database.prepare('SELECT value FROM meta WHERE key = ?').get(key)
    return row === undefined ? null : String(row['value'])
  }

  /** Carries out several changes as one. */
  together(change: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      change()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }

  write(key: string, value: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(key, value)
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }
}

function deliveryOf(row: Record<string, SQLOutputValue>): Delivery {
  const number = (key: string) => (row[key] === null ? null : Number(row[key]))
  return {
    id: String(row['id']),
    tenant: String(row['tenant']),
    webhook: String(row['webhook']),
    event: String(row['event']),
    subject: String(row['subject']),
    at: Number(row['at']),
    attempts: Number(row['attempts']),
    state: row['state'] as Delivery['state'],
    status: number('status'),
    error: row['error'] === null ? null : String(row['error']),
    nextAt: number('next_at'),
  }
}
