import { createSecretKey, type KeyObject } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { LockstepError } from '../../shared/lockstep-error.ts'
import type { KeyRing } from '../chain-keys.ts'
import { closingTypes } from '../journal.ts'
import { createDataKey, decrypt, encrypt } from './payload-cipher.ts'

/** What is known of a chain's end, so that appending to it asks the disk nothing. */
export interface Head {
  readonly id: number
  readonly name: string
  readonly tenant: string
  /** The number of the run in its tenant; 0 for the tenant's own chain. */
  readonly number: number
  /** Null once the payloads were erased. */
  key: KeyObject | null
  seq: number
  hash: string | null
  closed: boolean
}

const mostKept = 20_000

/** The ends of chains as this connection knows them. What another connection writes makes it forget everything. */
export class ChainHeads {
  readonly #database: DatabaseSync
  readonly #keys: KeyRing
  readonly #known = new Map<string, Head>()
  readonly #find: StatementSync
  readonly #last: StatementSync
  readonly #closing: StatementSync
  readonly #create: StatementSync
  readonly #dataVersion: StatementSync
  #seen: unknown = null

  constructor(database: DatabaseSync, keys: KeyRing) {
    this.#database = database
    this.#keys = keys
    this.#find = database.prepare(
      'SELECT id, tenant, number, wrapped_by, wrapped_key FROM chains WHERE name = ?',
    )
    this.#last = database.prepare('SELECT seq, hash FROM entries WHERE chain = ? ORDER BY seq DESC LIMIT 1')
    const types = [...closingTypes].map((type) => `'${type}'`).join(', ')
    this.#closing = database.prepare(`SELECT 1 FROM entries WHERE chain = ? AND type IN (${types}) LIMIT 1`)
    this.#create = database.prepare(
      'INSERT INTO chains (name, tenant, number, wrapped_by, wrapped_key) VALUES (?, ?, ?, ?, ?)',
    )
    this.#dataVersion = database.prepare('PRAGMA data_version')
  }

  /** Call inside a transaction, before anything is asked: forgets what may be stale. */
  refresh(): void {
    const version = this.#dataVersion.get()?.['data_version']
    if (version !== this.#seen || this.#known.size > mostKept) this.#known.clear()
    this.#seen = version
  }

  /** Forgets everything, as after a transaction that did not happen. */
  forget(): void {
    this.#known.clear()
  }

  /** The end of the chain; null if there is no such chain. */
  find(name: string): Head | null {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const row = this.#find.get(name)
    if (row === undefined) return null
    const id = Number(row['id'])
    const last = this.#last.get(id)
    const head: Head = {
      id,
      name,
      tenant: String(row['tenant']),
      number: Number(row['number']),
      key: this.unwrap(name, row['wrapped_by'] as string | null, row['wrapped_key'] as Uint8Array | null),
      seq: Number(last?.['seq'] ?? 0),
      hash: last === undefined ? null : hashText(last['hash'] as Uint8Array),
      closed: this.#closing.get(id) !== undefined,
    }
    this.#known.set(name, head)
    return head
  }

  /** Makes a chain with a key of its own. */
  create(name: string, tenant: string, number: number): Head {
    const { key, bytes } = createDataKey()
    const { current } = this.#keys
    const wrapped = encrypt(current.wrap, bytes, `key of ${name}`)
    const { lastInsertRowid } = this.#create.run(name, tenant, number, current.id, wrapped)
    const head = { id: Number(lastInsertRowid), name, tenant, number, key, seq: 0, hash: null, closed: false }
    this.#known.set(name, head)
    return head
  }

  /** How many runs the tenant has opened so far. */
  lastNumber(tenant: string): number {
    const row = this.#database
      .prepare('SELECT MAX(number) AS number FROM chains WHERE tenant = ?')
      .get(tenant)
    return Number(row?.['number'] ?? 0)
  }

  /** The key of a chain's payloads; null where it was erased. Throws `journal_unreadable` if the server's key is not here. */
  unwrap(name: string, by: string | null, wrapped: Uint8Array | null): KeyObject | null {
    if (by === null || wrapped === null) return null
    const generation = this.#keys.all.get(by)
    try {
      if (generation === undefined) throw new Error(`there is no key ${by}`)
      return createSecretKey(decrypt(generation.wrap, wrapped, `key of ${name}`))
    } catch (cause) {
      throw new LockstepError(
        'journal_unreadable',
        `The payloads of ${name} were written with another key.`,
        {
          cause,
          consequence: 'pause',
          hint: `Restore the keys that belong to this journal, first of all ${by}.`,
        },
      )
    }
  }
}

/** A hash as links write it. */
export function hashText(bytes: Uint8Array): string {
  return `sha256:${Buffer.from(bytes).toString('hex')}`
}
