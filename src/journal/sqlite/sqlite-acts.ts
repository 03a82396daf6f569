import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { JsonObject } from '../../shared/json.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import { toJson } from '../../shared/to-json.ts'
import { tenantChain, type SealedEntry } from '../chain.ts'
import type { KeyRing } from '../chain-keys.ts'
import type { AdministerOptions, Credential } from '../chain-store.ts'
import { checkAuthor, copyFacts } from '../check-append.ts'
import type { Authorship, JournalEntry, JournalFact } from '../journal.ts'
import { endOf, type ChainHeads } from './chain-head.ts'
import { changed, readBatch, type ChainReader } from './chain-reader.ts'
import type { ChainWriter } from './chain-writer.ts'
import { decrypt, encrypt } from './payload-cipher.ts'

/** A credential in words that can be written. */
type Kept = Omit<Credential, 'body'> & { readonly text: string }

/** The administrative entries of tenants by their index, and the credentials that came with them. */
export class SqliteActs {
  readonly #heads: ChainHeads
  readonly #reader: ChainReader
  readonly #writer: ChainWriter
  readonly #keys: KeyRing
  readonly #last: StatementSync
  readonly #after: StatementSync
  readonly #batch: StatementSync
  readonly #keep: StatementSync
  readonly #forget: StatementSync
  readonly #kind: StatementSync
  readonly #owner: StatementSync

  constructor(
    database: DatabaseSync,
    keys: KeyRing,
    heads: ChainHeads,
    reader: ChainReader,
    writer: ChainWriter,
  ) {
    this.#writer = writer
    this.#owner = database.prepare('SELECT tenant, kind FROM credentials WHERE id = ?')
    this.#heads = heads
    this.#reader = reader
    this.#keys = keys
    this.#last = database.prepare('SELECT MAX(seq) AS seq FROM acts WHERE chain = ?')
    this.#after = database.prepare('SELECT seq FROM acts WHERE chain = ? AND seq > ? ORDER BY seq')
    this.#batch = database.prepare(
      'SELECT seq, principal, mac_key, facts, proof, body FROM batches WHERE chain = ? AND seq <= ? ORDER BY seq DESC LIMIT 2',
    )
    this.#keep = database.prepare(
      'INSERT INTO credentials (id, tenant, kind, wrapped_by, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET wrapped_by = excluded.wrapped_by, body = excluded.body',
    )
    this.#forget = database.prepare('DELETE FROM credentials WHERE id = ? AND tenant = ?')
    this.#kind = database.prepare(
      'SELECT id, tenant, wrapped_by, body FROM credentials WHERE kind = ? ORDER BY id',
    )
  }

  /** Copies and checks an act now, and gives what is to be done inside the commit; that refuses before it has written anything. */
  plan(facts: readonly JournalFact[], author: Authorship, options: AdministerOptions): () => void {
    checkAuthor(author)
    const copied = copyFacts('tenant', facts)
    const by = { ...author }
    const keep = copyCredentials(by.tenant, options.keep)
    const forget = [...(options.forget ?? [])]
    const { after } = options
    return () => {
      if (after !== undefined) this.#assertLast(by.tenant, after)
      keep.forEach((each) => this.#assertOwn(each))
      for (const fact of copied) this.#writer.note(fact, by)
      const { id: keyId, wrap } = this.#keys.current
      for (const each of keep)
        this.#keep.run(each.id, each.tenant, each.kind, keyId, encrypt(wrap, each.text, place(each)))
      for (const id of forget) this.#forget.run(id, by.tenant)
    }
  }

  #assertLast(tenant: string, after: number): void {
    const head = this.#heads.find(tenantChain(tenant))
    const last = head === null ? 0 : Number(this.#last.get(head.id)?.['seq'] ?? 0)
    if (last === after && !this.#writer.notesAct(tenant)) return
    throw new LockstepError(
      'journal_conflict',
      `The tenant ${tenant} has administrative entries after ${after}, which the writer does not know of.`,
      { consequence: 'pause', hint: 'Read what was administered since, and decide again.' },
    )
  }

  #assertOwn({ id, tenant, kind }: Kept): void {
    const row = this.#owner.get(id)
    if (row === undefined || (row['tenant'] === tenant && row['kind'] === kind)) return
    throw new LockstepError('invalid_value', `There is another credential ${id}.`)
  }

  /** The acts of a tenant after the given number, each of them checked. */
  read(tenant: string, afterSeq: number): readonly JournalEntry[] {
    const name = tenantChain(tenant)
    const chain = this.#reader.open(name)
    if (chain === null) return []
    let sealed: readonly SealedEntry[] = []
    return this.#after.all(chain.id, afterSeq).map((row) => {
      const seq = Number(row['seq'])
      // What was written together is opened once.
      if ((sealed.at(-1)?.link.seq ?? 0) < seq) {
        const [batch, before] = this.#batch.all(chain.id, seq)
        sealed = batch === undefined ? [] : readBatch(batch, chain, endOf(before).hash)
      }
      const entry = sealed[seq - (sealed[0]?.link.seq ?? 0)]
      if (entry === undefined) throw changed(name, seq, 'it is missing')
      return this.#reader.check(entry)
    })
  }

  /** The credentials of a kind, of all tenants. */
  credentials(kind: string): readonly Credential[] {
    return this.#kind.all(kind).map((row) => {
      const [id, tenant] = [String(row['id']), String(row['tenant'])]
      try {
        const generation = this.#keys.all.get(String(row['wrapped_by']))
        if (generation === undefined) throw new Error(`there is no key ${String(row['wrapped_by'])}`)
        const text = decrypt(generation.wrap, row['body'] as Uint8Array, place({ id, tenant, kind }))
        return { id, tenant, kind, body: JSON.parse(text.toString('utf8')) as JsonObject }
      } catch (cause) {
        throw new LockstepError(
          'journal_unreadable',
          `The credential ${id} was not written by this server.`,
          {
            cause,
            consequence: 'pause',
            hint: 'Restore the store together with its keys from a copy.',
          },
        )
      }
    })
  }
}

/** The credentials as they will be written, copied so that nobody can change them. Throws `invalid_value` for what cannot be. */
function copyCredentials(tenant: string, keep: AdministerOptions['keep'] = []): readonly Kept[] {
  return keep.map(({ id, kind, body }) => {
    const reading = toJson(body)
    if (reading.problem === null && [id, kind].every((text) => text !== '' && text.isWellFormed()))
      return { id, tenant, kind, text: JSON.stringify(reading.value) }
    throw new LockstepError('invalid_value', `The credential ${id} cannot be written down.`)
  })
}

function place({ id, tenant, kind }: Pick<Credential, 'id' | 'tenant' | 'kind'>): string {
  return JSON.stringify(['credential', tenant, kind, id])
}
