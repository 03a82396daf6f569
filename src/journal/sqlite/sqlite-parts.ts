import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Checkpoint } from '../chain-checkpoint.ts'
import type { SealedEntry } from '../chain.ts'
import type { ChainPart, CheckpointPart, PartQuery } from '../chain-part.ts'
import { endOf } from './chain-head.ts'
import { readBatch, type ChainReader } from './chain-reader.ts'

/** How many commits are read at once. */
const atOnce = 100

/** Parts of chains from their end backwards, however long the chain is. */
export class SqliteParts {
  readonly #reader: ChainReader
  readonly #before: StatementSync
  readonly #older: StatementSync
  readonly #checkpoints: StatementSync

  constructor(database: DatabaseSync, reader: ChainReader) {
    this.#reader = reader
    // The kinds of entries lie open, so that those that are not asked for need not be decrypted.
    this.#before = database.prepare(
      `SELECT seq, principal, mac_key, facts, proof, body FROM batches
       WHERE chain = ?1 AND seq < ?2 AND (?3 IS NULL OR principal = ?3) AND (?4 IS NULL OR instr(facts, ?4) > 0)
       ORDER BY seq DESC LIMIT ${atOnce}`,
    )
    this.#older = database.prepare(
      'SELECT seq, facts, proof FROM batches WHERE chain = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
    )
    this.#checkpoints = database.prepare(
      `SELECT p.id AS id, p.body AS body FROM checkpoint_chains c JOIN checkpoints p ON p.id = c.checkpoint
       WHERE c.chain = ? AND c.checkpoint < ? ORDER BY c.checkpoint DESC LIMIT ?`,
    )
  }

  entries(name: string, query: PartQuery): ChainPart {
    const chain = this.#reader.open(name)
    if (chain === null) return { entries: [], next: null }
    const { from = -Infinity, to, type, by, most } = query
    const word = type === undefined ? null : JSON.stringify(type)
    let before = query.before ?? Number.MAX_SAFE_INTEGER
    if (to !== undefined) before = Math.min(before, this.#firstAt(chain.id, to))
    const found: SealedEntry[] = []
    for (;;) {
      const rows = this.#before.all(chain.id, before, by ?? null, word)
      for (const row of rows) {
        const batch = readBatch(row, chain, endOf(this.#older.get(chain.id, Number(row['seq']))).hash)
        for (const entry of batch.toReversed()) {
          const { seq, at } = entry.link
          // A page may end inside of what was appended together.
          if (seq >= before || (type !== undefined && entry.link.type !== type)) continue
          if (at < from) return { entries: found, next: null }
          if (found.length === most) return { entries: found, next: found.at(-1)!.link.seq }
          found.push(entry)
        }
      }
      if (rows.length < atOnce) return { entries: found, next: null }
      before = Number(rows.at(-1)!['seq'])
    }
  }

  checkpoints(name: string, before: number | null, most: number): CheckpointPart {
    const chain = this.#reader.open(name)
    if (chain === null) return { checkpoints: [], next: null }
    const rows = this.#checkpoints.all(chain.id, before ?? Number.MAX_SAFE_INTEGER, most + 1)
    const shown = rows.slice(0, most)
    return {
      checkpoints: shown.map((row) => JSON.parse(String(row['body'])) as Checkpoint),
      next: rows.length > most ? Number(shown.at(-1)!['id']) : null,
    }
  }

  /** The number of the first entry at or after a time; entries lie in the order of their times. */
  #firstAt(chain: number, at: number): number {
    const newest = this.#older.get(chain, Number.MAX_SAFE_INTEGER)
    if (newest === undefined) return 1
    let [low, high] = [1, endOf(newest).seq + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = this.#older.get(chain, middle + 1)!
      const facts = JSON.parse(String(row['facts'])) as [number, string][]
      const time = facts[middle - Number(row['seq'])]?.[0] ?? 0
      if (time < at) low = middle + 1
      else high = middle
    }
    return low
  }
}
