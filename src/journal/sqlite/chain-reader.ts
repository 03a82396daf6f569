import { hash, type KeyObject } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { canonicalJson } from '../../shared/canonical-json.ts'
import type { JsonObject } from '../../shared/json.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import { chainVersion, saltedPayload, writeLink, type ChainLink, type SealedEntry } from '../chain.ts'
import type { KeyRing } from '../chain-keys.ts'
import { journalVersion, type JournalEntry } from '../journal.ts'
import { endOf, proofLength, type ChainHeads } from './chain-head.ts'
import { payloadPlace } from './chain-writer.ts'
import { decrypt } from './payload-cipher.ts'

type Payload = NonNullable<SealedEntry['payload']>

/** Reads chains back. */
export class ChainReader {
  readonly #heads: ChainHeads
  readonly #keys: KeyRing
  readonly #chain: StatementSync
  readonly #batches: StatementSync
  readonly #from: StatementSync
  readonly #upTo: StatementSync

  constructor(database: DatabaseSync, heads: ChainHeads, keys: KeyRing) {
    this.#heads = heads
    this.#keys = keys
    this.#chain = database.prepare('SELECT id, tenant, wrapped_by, wrapped_key FROM chains WHERE name = ?')
    this.#batches = database.prepare(
      'SELECT seq, principal, mac_key, facts, proof, body FROM batches WHERE chain = ? ORDER BY seq',
    )
    const columns = 'seq, principal, mac_key, facts, proof, body'
    this.#from = database.prepare(`SELECT ${columns} FROM batches WHERE chain = ? AND seq >= ? ORDER BY seq`)
    this.#upTo = database.prepare(
      'SELECT seq, proof FROM batches WHERE chain = ? AND seq <= ? ORDER BY seq DESC LIMIT 2',
    )
  }

  /** The chain as it is opened to be read; null if there is none. */
  open(name: string): (OpenChain & { readonly id: number }) | null {
    const chain = this.#chain.get(name)
    if (chain === undefined) return null
    const by = chain['wrapped_by'] as string | null
    const key = this.#heads.unwrap(name, by, chain['wrapped_key'] as Uint8Array | null)
    return { id: Number(chain['id']), name, tenant: String(chain['tenant']), key }
  }

  /** The entries of a chain with all that proves them, as they lie in the store. */
  sealed(name: string): readonly SealedEntry[] {
    const chain = this.open(name)
    return chain === null ? [] : readRows(this.#batches.all(chain.id), chain, null)
  }

  /**
   * The entries of a chain from a number on, each of them checked: that it is the one that was written, in its place, by who has the key. Throws
   * `journal_unreadable` at the first that is not. What comes before them is not looked at.
   */
  entries(name: string, from = 1): readonly JournalEntry[] {
    const sealed = from === 1 ? this.sealed(name) : this.#sealedFrom(name, from)
    return sealed.map((each, index) => {
      if (each.link.seq !== from + index) throw changed(name, from + index, 'it is missing')
      return this.check(each)
    })
  }

  #sealedFrom(name: string, from: number): readonly SealedEntry[] {
    const chain = this.open(name)
    const [holding, before] = chain === null ? [] : this.#upTo.all(chain.id, from)
    if (chain === null || holding === undefined) return []
    const rows = this.#from.all(chain.id, Number(holding['seq']))
    return readRows(rows, chain, endOf(before).hash).filter(({ link }) => link.seq >= from)
  }

  /** The entry, if it is the one that was written after the hash it names, by who has the key; throws `journal_unreadable` if it is not. */
  check(sealed: SealedEntry): JournalEntry {
    const { link, payload } = sealed
    const name = link.run
    if (payload === null) throw changed(name, link.seq, 'its payload was erased or removed')
    const { salt, data } = payload
    const digest = `sha256:${hash('sha256', saltedPayload(salt, canonicalJson(data)), 'hex')}`
    if (digest !== link.payload) throw changed(name, link.seq, 'its payload is not the one that was written')
    if (`sha256:${hash('sha256', writeLink(link), 'hex')}` !== sealed.hash)
      throw changed(name, link.seq, 'it is not what was written, or not in its place')
    if (this.#keys.all.get(sealed.key)?.mac(sealed.hash) !== sealed.mac)
      throw changed(name, link.seq, 'it was not written with a key of this server')
    const { run, seq, at, tenant, principal, type } = link
    return { v: journalVersion, run, seq, at, tenant, principal, type, data }
  }
}

/** A chain as it is opened to be read. */
export interface OpenChain {
  readonly name: string
  readonly tenant: string
  readonly key: KeyObject | null
}

function readRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  chain: OpenChain,
  before: string | null,
): readonly SealedEntry[] {
  const entries: SealedEntry[] = []
  for (const row of rows) entries.push(...readBatch(row, chain, entries.at(-1)?.hash ?? before))
  return entries
}

/** What was appended together, as it lies in the store; `before` is the hash of the entry before it. */
export function readBatch(
  row: Readonly<Record<string, unknown>>,
  { name, tenant, key }: OpenChain,
  before: string | null,
): readonly SealedEntry[] {
  const first = Number(row['seq'])
  const proof = Buffer.from(row['proof'] as Uint8Array)
  const body = row['body'] as Uint8Array | null
  const payloads = body === null || key === null ? [] : readPayloads(key, body, name, first)
  let prev = before
  return readFacts(String(row['facts'])).map(([at, type], index) => {
    const hex = (from: number) =>
      proof.toString('hex', index * proofLength + from, index * proofLength + from + 32)
    const link: ChainLink = {
      v: chainVersion,
      run: name,
      seq: first + index,
      at,
      tenant,
      principal: String(row['principal']),
      type,
      payload: `sha256:${hex(0)}`,
      prev,
    }
    prev = `sha256:${hex(32)}`
    return { link, hash: prev, mac: hex(64), key: String(row['mac_key']), payload: payloads[index] ?? null }
  })
}

/** The payloads of what was appended together, the first one that of the given entry. */
function readPayloads(key: KeyObject, sealed: Uint8Array, name: string, first: number): readonly Payload[] {
  const body = openBody(key, sealed, name, first)
  const payloads: Payload[] = []
  for (let index = 0; index < body.length; index += 2)
    payloads.push({ salt: body[index] as string, data: body[index + 1] as JsonObject })
  return payloads
}

/** The time and the type of what was appended together; nothing where that was tampered with, so that the entries count as missing. */
function readFacts(text: string): readonly (readonly [number, string])[] {
  try {
    return JSON.parse(text) as readonly (readonly [number, string])[]
  } catch {
    return []
  }
}

/** Whatever lies there and cannot be opened counts as gone: the entry's own check says so. */
function openBody(key: KeyObject, body: Uint8Array, name: string, seq: number): readonly unknown[] {
  try {
    return JSON.parse(decrypt(key, body, payloadPlace(name, seq)).toString('utf8')) as readonly unknown[]
  } catch {
    return []
  }
}

/** The error about an entry that is not what was written. */
export function changed(name: string, seq: number, what: string): LockstepError {
  return new LockstepError('journal_unreadable', `Entry ${seq} of ${name} cannot be trusted: ${what}.`, {
    consequence: 'pause',
    hint: 'The store was changed by something else than Lockstep. Restore it from a copy.',
  })
}
