import { hash } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { invariant, LockstepError } from '../../shared/lockstep-error.ts'
import { writeJson } from '../../shared/write-json.ts'
import { chainVersion, saltedPayload, tenantChain, writeLink } from '../chain.ts'
import { checkpointText, type ChainHead, type Checkpoint } from '../chain-checkpoint.ts'
import type { KeyRing } from '../chain-keys.ts'
import type { Authorship, JournalFact } from '../journal.ts'
import type { ChainHeads, Head } from './chain-head.ts'
import { encrypt, takeRandomHex } from './payload-cipher.ts'

/** Extends chains inside a transaction of its caller. */
export class ChainWriter {
  readonly #heads: ChainHeads
  readonly #keys: KeyRing
  readonly #insert: StatementSync
  readonly #insertAct: StatementSync
  readonly #insertCheckpoint: StatementSync
  readonly #insertCheckpointChain: StatementSync
  /** What the commit under way says of tenants, in its order. */
  #notes = new Map<string, { readonly fact: JournalFact; readonly principal: string }[]>()

  constructor(database: DatabaseSync, heads: ChainHeads, keys: KeyRing) {
    this.#heads = heads
    this.#keys = keys
    this.#insert = database.prepare(
      'INSERT INTO batches (chain, seq, principal, mac_key, facts, proof, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#insertAct = database.prepare('INSERT INTO acts (chain, seq) VALUES (?, ?)')
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
    const number = this.#heads.nextNumber(author.tenant)
    this.note({ type: 'run.opened', at, data: { run, number } }, author)
    return this.#heads.create(run, author.tenant, number)
  }

  /** Writes into the tenant's chain how far a run had come when it was closed, and again when it grew afterwards. */
  close(head: Head, author: Authorship, at: number): void {
    head.closed = true
    const data = { run: head.name, number: head.number, entries: head.seq, head: head.hash }
    this.note({ type: 'run.closed', at, data }, author)
  }

  /** Puts a fact at the end of the tenant's chain, together with all that the commit says of it. */
  note(fact: JournalFact, { tenant, principal }: Authorship): void {
    const notes = this.#notes.get(tenant)
    if (notes === undefined) this.#notes.set(tenant, [{ fact, principal }])
    else notes.push({ fact, principal })
  }

  /** Says whether the commit under way holds an administrative fact of the tenant. */
  notesAct(tenant: string): boolean {
    return this.#notes.get(tenant)?.some(({ fact }) => isAct(fact)) === true
  }

  /** Writes what was noted; call before the commit, and before anything is signed. */
  writeNotes(): void {
    for (const [tenant, notes] of this.#notes) {
      const head = this.tenantHead(tenant)
      for (let from = 0; from < notes.length;) {
        const { principal } = notes[from]!
        let to = from + 1
        while (to < notes.length && notes[to]!.principal === principal) to++
        for (let index = from; index < to; index++)
          if (isAct(notes[index]!.fact)) this.#insertAct.run(head.id, head.seq + 1 + index - from)
        this.extend(
          head,
          notes.slice(from, to).map(({ fact }) => fact),
          principal,
        )
        from = to
      }
    }
    this.dropNotes()
  }

  /** Forgets what was noted, as after a transaction that did not happen. */
  dropNotes(): void {
    if (this.#notes.size > 0) this.#notes = new Map()
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
    const salts = takeRandomHex(16 * facts.length)
    const first = head.seq + 1
    let body = ''
    let written = ''
    let proof = ''
    for (let index = 0; index < facts.length; index++) {
      const { type, at, data } = facts[index]!
      const salt = salts.slice(index * 32, index * 32 + 32)
      // In the order of the writer's members, so that what is read back asks a model the same question word for word.
      const { text, canonical } = writeJson(data)
      const payload = hash('sha256', saltedPayload(salt, canonical), 'hex')
      const link = writeLink({
        v: chainVersion,
        run: head.name,
        seq: first + index,
        at,
        tenant: head.tenant,
        principal,
        type,
        payload: `sha256:${payload}`,
        prev: head.hash,
      })
      const linkHash = hash('sha256', link, 'hex')
      head.hash = `sha256:${linkHash}`
      proof += payload + linkHash + mac(head.hash)
      written += `${index === 0 ? '[' : ','}[${at},${JSON.stringify(type)}]`
      body += `${index === 0 ? '[' : ','}"${salt}",${text}`
    }
    head.seq += facts.length
    // One row and one encryption for all that is appended together: they cost more than the rest.
    const sealed = encrypt(head.key, `${body}]`, payloadPlace(head.name, first))
    this.#insert.run(head.id, first, principal, keyId, `${written}]`, Buffer.from(proof, 'hex'), sealed)
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

/** Every fact of a tenant is administrative but those that number its runs. */
function isAct({ type }: JournalFact): boolean {
  return type !== 'run.opened' && type !== 'run.closed'
}

/** Where a payload lies, as its encryption is bound to it. */
export function payloadPlace(chain: string, seq: number): string {
  return `${chain} ${seq}`
}
