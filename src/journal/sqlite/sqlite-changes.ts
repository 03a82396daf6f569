import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { StoreChanges, StoreMark } from '../store-changes.ts'
import { proofLength } from './chain-head.ts'

/** How much of a commit's proof tells it from every other. */
const shownBytes = 16

/** Which runs were written to, by the positions of what was appended; those follow each other in the order of commits. */
export class SqliteChanges {
  readonly #at: StatementSync
  readonly #after: StatementSync
  readonly #last: StatementSync
  readonly #erased: StatementSync

  constructor(database: DatabaseSync) {
    const proof = `lower(hex(substr(proof, -${shownBytes}))) AS proof`
    this.#at = database.prepare(`SELECT ${proof} FROM batches WHERE position = ?`)
    this.#after = database.prepare(
      `SELECT b.position AS position, b.chain AS chain, c.name AS name, c.number AS number, c.tenant AS tenant,
         b.facts AS facts, ${proof}
       FROM batches b JOIN chains c ON c.id = b.chain WHERE b.position > ? ORDER BY b.position LIMIT ?`,
    )
    this.#last = database.prepare(
      `SELECT seq + length(proof) / ${proofLength} - 1 AS entries FROM batches WHERE chain = ? ORDER BY seq DESC LIMIT 1`,
    )
    this.#erased = database.prepare(
      'SELECT id, name FROM chains WHERE tenant = ? AND number > 0 AND wrapped_key IS NULL',
    )
  }

  since(mark: StoreMark | null, most: number): StoreChanges {
    if (mark !== null && this.#at.get(mark.position)?.['proof'] !== mark.proof)
      return { follows: false, runs: [], mark: null, more: true }
    const rows = this.#after.all(mark?.position ?? 0, most)
    const chains = new Map<number, { readonly run: string; readonly erased: boolean }>()
    const note = (id: unknown, name: unknown, erased: boolean) =>
      chains.set(Number(id), { run: String(name), erased })
    for (const row of rows) {
      if (Number(row['number']) > 0) note(row['chain'], row['name'], false)
      // Erasing leaves a run's entries as they are; only its tenant's chain tells.
      else if (String(row['facts']).includes('"run.erased"'))
        for (const each of this.#erased.all(String(row['tenant']))) note(each['id'], each['name'], true)
    }
    const last = rows.at(-1)
    return {
      follows: true,
      runs: Array.from(chains, ([id, run]) => ({
        ...run,
        entries: Number(this.#last.get(id)?.['entries'] ?? 0),
      })),
      mark: last === undefined ? mark : { position: Number(last['position']), proof: String(last['proof']) },
      more: rows.length === most,
    }
  }
}
