import { hash } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { canonicalJson } from '../../shared/canonical-json.ts'
import { invariant, LockstepError } from '../../shared/lockstep-error.ts'
import { chainVersion, saltedPayload, tenantChain, writeLink } from '../chain.ts'
import { checkpointText, type ChainHead, type Checkpoint } from '../chain-checkpoint.ts'
import type { KeyRing } from '../chain-keys.ts'
import type { Authorship, JournalFact } from '../journal.ts'
import type { ChainHeads, Head } from './chain-head.ts'
import { encrypt, takeRandom } from './payload-cipher.ts'

/** Extends chains inside a transaction of its caller. */
export class ChainWriter {
  readonly #heads: ChainHeads
  readonly #keys: KeyRing
  readonly #insertEntry: StatementSync
  readonly #insertPayload: StatementSync
  readonly #insertCheckpoint: StatementSync
  readonly #insertCheckpointChain: StatementSync

  constructor(database: DatabaseSync, heads: ChainHeads, keys: KeyRing) {
    this.#heads = heads
    this.#keys = keys
    this.#insertEntry = database.prepare(
      'INSERT INTO entries (chain, seq, at, principal, type, payload, hash, mac, mac_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    )
    this.#insertPayload = database.prepare('INSERT INTO payloads (position, body) VALUES (?, ?)')
    this.#insertCheckpoint = database.prepare('INSERT INTO checkpoints (body) VALUES (?)')
    this.#insertCheckpointChain = database.prepare(
      'INSERT INTO checkpoint_chains (chain, checkpoint) VALUES (?, ?)',
    )
  }

  /** The tenant's own chain, made if there is none. */
  tenantHead(tenant: string): Head {
    const name = tenantChain(tenant)
    return this.#heads.find(name) ?? this.#heads.create(name, tenant, 0)
  }

  /** Opens a run: it gets the next number of its tenant, and the tenant's chain says so. */
  open(run: string, author: Authorship, at: number): Head {
    const number = this.#heads.lastNumber(author.tenant) + 1
    const opened = { type: 'run.opened', at, data: { run, number } }
    this.extend(this.tenantHead(author.tenant), [opened], author.principal)
    return this.#heads.create(run, author.tenant, number)
  }

  /** Writes into the tenant's chain how far a run had come when it was closed, and again when it grew afterwards. */
  close(head: Head, author: Authorship, at: number): void {
    head.closed = true
    const data = { run: head.name, number: head.number, entries: head.seq, head: head.hash }
    this.extend(this.tenantHead(author.tenant), [{ type: 'run.closed', at, data }], author.principal)
  }

  /** Throws `journal_unwritable` if the payloads of the run were erased. */
  assertWritable(head: Head | null): void {
    if (head === null || head.key !== null) return
    throw new LockstepError('journal_unwritable', `The payloads of run ${head.name} were erased.`, {
      hint: 'An erased run is over. Start a new one.',
    })
  }

  /** Puts facts at the end of a chain. */
  extend(head: Head, facts: readonly JournalFact[], principal: string): void {
    if (facts.length === 0) return
    invariant(head.key !== null, 'a chain is extended only while it has a key')
    const { id: keyId, mac } = this.#keys.current
    const salts = takeRandom(16 * facts.length).toString('hex')
    let body = ''
    let firstPosition: number | bigint = 0
    for (const [index, { type, at, data }] of facts.entries()) {
      const salt = salts.slice(index * 32, index * 32 + 32)
      const text = canonicalJson(data)
      const payload = hash('sha256', saltedPayload(salt, text), 'hex')
      const seq = head.seq + 1
      const link = writeLink({
        v: chainVersion,
        run: head.name,
        seq,
        at,
        tenant: head.tenant,
        principal,
        type,
        payload: `sha256:${payload}`,
        prev: head.hash,
      })
      const linkHash = hash('sha256', link, 'hex')
      head.hash = `sha256:${linkHash}`
      head.seq = seq
      const { lastInsertRowid } = this.#insertEntry.run(
        head.id,
        seq,
        at,
        principal,
        type,
        Buffer.from(payload, 'hex'),
        Buffer.from(linkHash, 'hex'),
        Buffer.from(mac(head.hash), 'hex'),
        keyId,
      )
      if (index === 0) firstPosition = lastInsertRowid
      // In the order of the writer's members, so that what is read back asks a model the same question word for word.
      body += `${index === 0 ? '[' : ','}"${salt}",${JSON.stringify(data)}`
    }
    // One encryption for all that is appended together: it costs more than the rest.
    const first = head.seq - facts.length + 1
    this.#insertPayload.run(firstPosition, encrypt(head.key, `${body}]`, payloadPlace(head.name, first)))
  }

  /** Signs where the chains stand. */
  checkpoint(tenant: string, chains: readonly Head[], at: number): Checkpoint {
    const all = [this.tenantHead(tenant), ...chains].filter(({ hash }) => hash !== null)
    const heads = all.map((head): ChainHead => ({ chain: head.name, seq: head.seq, hash: head.hash! }))
    const { current } = this.#keys
    const unsigned = { v: 1, tenant, at, heads } as const
    const signature = current.sign(checkpointText(unsigned))
    const checkpoint: Checkpoint = { ...unsigned, key: current.id, signature }
    const { lastInsertRowid } = this.#insertCheckpoint.run(JSON.stringify(checkpoint))
    for (const head of all) this.#insertCheckpointChain.run(head.id, lastInsertRowid)
    return checkpoint
  }
}

/** Where a payload lies, as its encryption is bound to it. */
export function payloadPlace(chain: string, seq: number): string {
  return `${chain} ${seq}`
}
