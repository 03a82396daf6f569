import { createSecretKey, type KeyObject } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { LockstepError } from '../../shared/lockstep-error.ts'
import type { KeyRing } from '../chain-keys.ts'
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
  readonly #keys: KeyRing
  readonly #known = new Map<string, Head>()
  /** How many runs each tenant has opened so far. */
  readonly #numbers = new Map<string, number>()
  readonly #find: StatementSync
  readonly #last: StatementSync
  readonly #open: StatementSync
  readonly #number: StatementSync
  readonly #create: StatementSync
  readonly #dataVersion: StatementSync
  #seen: unknown = null

  constructor(database: DatabaseSync, keys: KeyRing) {
    this.#keys = keys
    this.#find = database.prepare(
      'SELECT id, tenant, number, wrapped_by, wrapped_key FROM chains WHERE name = ?',
    )
    this.#last = database.prepare('SELECT seq, proof FROM batches WHERE chain = ? ORDER BY seq DESC LIMIT 1')
    this.#open = database.prepare('SELECT 1 FROM open_runs WHERE run = ?')
    this.#number = database.prepare('SELECT MAX(number) AS number FROM chains WHERE tenant = ?')
    this.#create = database.prepare(
      'INSERT INTO chains (name, tenant, number, wrapped_by, wrapped_key) VALUES (?, ?, ?, ?, ?)',
    )
    this.#dataVersion = database.prepare('PRAGMA data_version')
  }

  /** Call inside a transaction, before anything is asked: forgets what may be stale. Says whether another connection has written. */
  refresh(): boolean {
    const version = this.#dataVersion.get()?.['data_version']
    const stale = version !== this.#seen
    if (stale || this.#known.size > mostKept) this.forget()
    this.#seen = version
    return stale
  }

  /** Forgets a run that has ended: few are ever written to again. */
  leave(name: string): void {
    this.#known.delete(name)
  }

  /** Forgets everything, as after a transaction that did not happen. */
  forget(): void {
    this.#known.clear()
    this.#numbers.clear()
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
      ...endOf(last),
      closed: this.#open.get(name) === undefined,
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

  /** The number of the tenant's next run. */
  nextNumber(tenant: string): number {
    const last = this.#numbers.get(tenant) ?? Number(this.#number.get(tenant)?.['number'] ?? 0)
    this.#numbers.set(tenant, last + 1)
    return last + 1
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

/** How many bytes prove one entry: the digest of its payload, its hash, its authentication, 32 each. */
export const proofLength = 96

/** The last number and hash of a chain, by its last row. */
export function endOf(row: Record<string, unknown> | undefined): Pick<Head, 'seq' | 'hash'> {
  if (row === undefined) return { seq: 0, hash: null }
  const proof = Buffer.from(row['proof'] as Uint8Array)
  const last = proof.length - proofLength
  return {
    seq: Number(row['seq']) + last / proofLength,
    hash: `sha256:${proof.toString('hex', last + 32, last + 64)}`,
  }
}
