/**
 * The journal in a SQLite file.
 *
 * Owns: the file, and the connection to it.
 * Talks to: the keys it is given.
 *
 * Invariants
 * Q1  What an append returned is on the disk: WAL, full sync. Appends that arrive together share a commit. A commit of which all is lazy
 *     has left the process; the next one that is not, or a moment, puts it on the disk.
 * Q2  Payloads are encrypted under a key per run, which is encrypted under the server's; nothing of them is readable in the file but the names
 *     of the tools that were called, and what a run has locked.
 * Q3  Opening a run, closing it and erasing it are written into the tenant's chain in the same commit.
 * Q4  A checkpoint is signed in the commit that ends a run or grants something.
 */
import type { DatabaseSync } from 'node:sqlite'
import { digest } from '../../shared/digest.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import { isTenantChain, type SealedEntry } from '../chain.ts'
import type { Checkpoint, Signature } from '../chain-checkpoint.ts'
import type { KeyRing } from '../chain-keys.ts'
import type { ChainPart, CheckpointPart, PartQuery } from '../chain-part.ts'
import type { CallLedger } from '../call-ledger.ts'
import type { AdministerOptions, ChainStore, Credential } from '../chain-store.ts'
import { checkHead, copyFacts, placeFacts } from '../check-append.ts'
import {
  closingTypes,
  type AppendOptions,
  type Authorship,
  type Halt,
  type JournalEntry,
  type JournalFact,
} from '../journal.ts'
import type { LazyAppend } from '../lazy-append.ts'
import { checkAmounts } from '../reservation-refusal.ts'
import { ChainHeads, type Head } from './chain-head.ts'
import { ChainReader } from './chain-reader.ts'
import { ChainWriter } from './chain-writer.ts'
import { CommitGroup } from './commit-group.ts'
import { RunClaims } from './run-claims.ts'
import { openDatabase, type DatabaseOptions } from './open-database.ts'
import { SqliteActs } from './sqlite-acts.ts'
import { SqliteChanges } from './sqlite-changes.ts'
import { SqliteLedger } from './sqlite-ledger.ts'
import { SqliteParts } from './sqlite-parts.ts'
import { SqliteReservations } from './sqlite-reservations.ts'
import type { StoreChanges, StoreMark } from '../store-changes.ts'
import { storeFailure } from '../store-failure.ts'

/** The facts that a checkpoint follows on (Q4). */
const signedTypes: ReadonlySet<string> = new Set([
  ...closingTypes,
  'approval.granted',
  'approval.voted',
  'approval.decided',
])

/** How long a commit that nobody waits for may be unsafe from a power failure, in milliseconds. */
const lazyFor = 100

/** A chained journal in one file, for many runs at once. Throws `journal_unreadable` or `journal_unwritable` if it cannot be opened. */
export class SqliteJournal implements ChainStore {
  readonly #path: string
  readonly #database: DatabaseSync
  readonly #keys: KeyRing
  readonly #heads: ChainHeads
  readonly #writer: ChainWriter
  readonly #reader: ChainReader
  readonly #reservations: SqliteReservations
  readonly #acts: SqliteActs
  readonly #counted: SqliteLedger
  readonly #changes: SqliteChanges
  readonly #parts: SqliteParts
  readonly #claims: RunClaims
  readonly #group: CommitGroup
  /** The runs that the commit under way signs for, by tenant. */
  #toSign = new Map<string, { readonly heads: Set<Head>; at: number }>()
  #closed = false
  #lazy = false
  #syncLater: NodeJS.Timeout | undefined

  constructor(path: string, keys: KeyRing, options: DatabaseOptions = {}) {
    this.#path = path
    this.#keys = keys
    this.#database = openDatabase(path, options)
    this.#heads = new ChainHeads(this.#database, keys)
    this.#writer = new ChainWriter(this.#database, this.#heads, keys)
    this.#reader = new ChainReader(this.#database, this.#heads, keys)
    this.#acts = new SqliteActs(this.#database, keys, this.#heads, this.#reader, this.#writer)
    this.#reservations = new SqliteReservations(this.#database)
    // The oldest generation: a target is the same one after the keys were rotated.
    const [oldest] = keys.all.values()
    this.#counted = new SqliteLedger(this.#database, (target) => oldest!.mac(`target:${target}`).slice(0, 32))
    this.#changes = new SqliteChanges(this.#database)
    this.#parts = new SqliteParts(this.#database, this.#reader)
    this.#claims = new RunClaims(this.#database, path)
    this.#group = new CommitGroup({ transact: (work, lazy) => this.#transact(work, lazy) })
  }

  async append(
    run: string,
    facts: readonly JournalFact[],
    options: AppendOptions & LazyAppend,
  ): Promise<readonly JournalEntry[]> {
    this.#assertOpen()
    // Copied now: what the caller changes while it waits for the commit is no part of it.
    const copied = copyFacts(run, facts)
    const changes = { ...options }
    checkAmounts(changes.reservations ?? [])
    checkAmounts(changes.releases ?? [])
    return await this.#group.add(() => this.#append(run, copied, changes), changes.lazy === true)
  }

  async read(run: string, fromSeq = 1): Promise<readonly JournalEntry[]> {
    if (isTenantChain(run)) return []
    return this.#ask(() => this.#reader.entries(run, Math.max(1, fromSeq)))
  }

  /** What the runs of a tenant did and spent. A place that is taken need not be safe on the disk before the admission is, which comes after it. */
  get ledger(): CallLedger {
    return {
      count: async (question) => this.#ask(() => this.#counted.count(question)),
      take: async (question) => {
        this.#assertOpen()
        return await this.#group.add(() => this.#counted.take(question), true)
      },
      giveBack: async (call) => {
        this.#assertOpen()
        await this.#group.add(() => this.#counted.giveBack(call), true)
      },
    }
  }

  async runs(): Promise<readonly string[]> {
    const rows = this.#ask(() => this.#database.prepare('SELECT name FROM chains WHERE number > 0').all())
    return rows.map((row) => String(row['name'])).sort()
  }

  async has(run: string): Promise<boolean> {
    const query = 'SELECT 1 FROM chains WHERE name = ? AND number > 0'
    return this.#ask(() => this.#database.prepare(query).get(run)) !== undefined
  }

  async openRuns(tenant?: string): Promise<readonly string[]> {
    const query =
      'SELECT run FROM open_runs JOIN chains ON name = run WHERE ?1 IS NULL OR tenant = ?1 ORDER BY id'
    return this.#ask(() => this.#database.prepare(query).all(tenant ?? null)).map((row) => String(row['run']))
  }

  async changesSince(mark: StoreMark | null, most: number): Promise<StoreChanges> {
    return this.#ask(() => this.#changes.since(mark, most))
  }

  async claim(run: string): Promise<void> {
    this.#assertOpen()
    copyFacts(run, [])
    await this.#group.add(() => this.#claims.take(run))
  }

  async takeLease(run: string): Promise<number> {
    this.#assertOpen()
    return await this.#group.add(() => this.#reservations.takeLease(run))
  }

  async sealed(chain: string): Promise<readonly SealedEntry[]> {
    return this.#ask(() => this.#reader.sealed(chain))
  }

  async part(chain: string, query: PartQuery): Promise<ChainPart> {
    return this.#ask(() => this.#parts.entries(chain, query))
  }

  async checkpointPart(chain: string, before: number | null, most: number): Promise<CheckpointPart> {
    return this.#ask(() => this.#parts.checkpoints(chain, before, most))
  }

  async tenants(): Promise<readonly string[]> {
    const rows = this.#ask(() => this.#database.prepare('SELECT tenant FROM chains WHERE number = 0').all())
    return rows.map((row) => String(row['tenant'])).sort()
  }

  async checkpoints(chain: string): Promise<readonly Checkpoint[]> {
    const query =
      'SELECT p.body AS body FROM checkpoints p JOIN checkpoint_chains c ON c.checkpoint = p.id JOIN chains h ON h.id = c.chain WHERE h.name = ? ORDER BY p.id'
    const rows = this.#ask(() => this.#database.prepare(query).all(chain))
    return rows.map((row) => JSON.parse(String(row['body'])) as Checkpoint)
  }

  async checkpoint(run: string, at: number): Promise<Checkpoint> {
    this.#assertOpen()
    return await this.#group.add(() => {
      const head = this.#find(run)
      return this.#writer.checkpoint(head.tenant, [head], at)
    })
  }

  publicKeys(): Readonly<Record<string, string>> {
    return Object.fromEntries(Array.from(this.#keys.all, ([id, { publicKey }]) => [id, publicKey]))
  }

  sign(text: string): Signature {
    const { id, sign } = this.#keys.current
    return { key: id, signature: sign(text) }
  }

  async administer(
    facts: readonly JournalFact[],
    author: Authorship,
    options: AdministerOptions = {},
  ): Promise<void> {
    this.#assertOpen()
    await this.#group.add(this.#acts.plan(facts, author, options))
  }

  async administered(tenant: string, afterSeq = 0): Promise<readonly JournalEntry[]> {
    return this.#ask(() => this.#acts.read(tenant, afterSeq))
  }

  async credentials(kind: string): Promise<readonly Credential[]> {
    return this.#ask(() => this.#acts.credentials(kind))
  }

  async halt(author: Authorship, halt: Pick<Halt, 'at' | 'reason'>): Promise<boolean> {
    return await this.#setHalt('tenant.halted', author, halt, { by: author.principal, ...halt })
  }

  async unhalt(author: Authorship, why: Pick<Halt, 'at' | 'reason'>): Promise<boolean> {
    return await this.#setHalt('tenant.unhalted', author, why, null)
  }

  async halted(tenant: string): Promise<Halt | null> {
    return this.#ask(() => this.#reservations.halted(tenant))
  }

  async locks(tenant: string): Promise<readonly { readonly key: string; readonly run: string }[]> {
    const query = 'SELECT key, run FROM locks WHERE tenant = ? ORDER BY key'
    const rows = this.#ask(() => this.#database.prepare(query).all(tenant))
    return rows.map(({ key, run }) => ({ key: String(key), run: String(run) }))
  }

  async erase(run: string, author: Authorship & { readonly at: number }): Promise<void> {
    this.#assertOpen()
    await this.#group.add(() => {
      const head = this.#find(run)
      checkHead(run, { ...author, expectedSeq: head.seq }, { ...head, epoch: 0 })
      const erased = { type: 'run.erased', at: author.at, data: { run, number: head.number } }
      this.#writer.note(erased, author)
      this.#database.prepare('UPDATE batches SET body = NULL WHERE chain = ?').run(head.id)
      this.#database
        .prepare('UPDATE chains SET wrapped_by = NULL, wrapped_key = NULL WHERE id = ?')
        .run(head.id)
      head.key = null
    })
    // The key and the payloads leave the log beside the file, too.
    this.#ask(() => this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
  }

  async keep(text: string): Promise<string> {
    this.#assertOpen()
    const name = digest(text)
    if ((await this.kept(name)) !== null) return name
    const insert = 'INSERT OR IGNORE INTO documents (digest, text) VALUES (?, ?)'
    await this.#group.add(() => this.#database.prepare(insert).run(name, text))
    return name
  }

  async kept(name: string): Promise<string | null> {
    const row = this.#ask(() =>
      this.#database.prepare('SELECT text FROM documents WHERE digest = ?').get(name),
    )
    return row === undefined ? null : String(row['text'])
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#syncLater)
    this.#group.flush()
    this.#releaseRuns()
    clearTimeout(this.#syncLater)
    this.#database.close()
    this.#claims.leave()
  }

  /** Everything is checked before anything is written, so that a refusal leaves the others of its commit alone. */
  #append(run: string, facts: readonly JournalFact[], options: AppendOptions): readonly JournalEntry[] {
    const found = this.#heads.find(run)
    // Only who works under a lease, or came after one, needs to know the newest.
    const epoch = options.leaseEpoch === undefined ? 0 : this.#reservations.epoch(run)
    checkHead(run, options, { seq: found?.seq ?? 0, tenant: found?.tenant ?? null, epoch })
    const reserve = this.#reservations.plan(run, options)
    if (facts.length === 0 && found === null) {
      reserve?.()
      return []
    }
    this.#writer.assertWritable(found)
    if (found?.closed !== true) this.#claims.take(run)
    if (found === null) this.#writer.tenantHead(options.tenant)
    const at = facts[0]?.at ?? 0
    const head = found ?? this.#writer.open(run, options, at)
    const entries = placeFacts(run, facts, options, head.seq)
    this.#writer.extend(head, facts, options.principal)
    reserve?.()
    this.#counted.note(run, facts, options)
    const closing = facts.findLast(({ type }) => closingTypes.has(type))
    if (closing !== undefined) {
      this.#reservations.freeLocks(run, options.tenant)
      this.#claims.end(run)
    }
    if (facts.length > 0 && (closing !== undefined || head.closed)) {
      this.#writer.close(head, options, facts.at(-1)!.at)
    }
    if (facts.some(({ type }) => signedTypes.has(type))) this.#sign(head, facts.at(-1)!.at)
    return entries
  }

  async #setHalt(
    type: string,
    author: Authorship,
    { at, reason }: Pick<Halt, 'at' | 'reason'>,
    halt: Halt | null,
  ): Promise<boolean> {
    this.#assertOpen()
    const [fact] = copyFacts('tenant', [{ type, at, data: { reason } }])
    return await this.#group.add(() => {
      const changed = this.#reservations.setHalt(author.tenant, halt)
      if (changed) this.#writer.note(fact!, author)
      return changed
    })
  }

  #sign(head: Head, at: number): void {
    const waiting = this.#toSign.get(head.tenant) ?? { heads: new Set<Head>(), at }
    waiting.heads.add(head)
    waiting.at = Math.max(waiting.at, at)
    this.#toSign.set(head.tenant, waiting)
  }

  #transact(work: () => void, lazy: boolean): void {
    let begun = false
    try {
      this.#syncAs(lazy)
      this.#database.exec('BEGIN IMMEDIATE')
      begun = true
      if (this.#heads.refresh()) this.#reservations.forget()
      work()
      this.#writer.writeNotes()
      for (const [tenant, { heads, at }] of this.#toSign) this.#writer.checkpoint(tenant, [...heads], at)
      this.#database.exec('COMMIT')
      for (const { heads } of this.#toSign.values())
        for (const { name, closed } of heads) if (closed) this.#heads.leave(name)
    } catch (error) {
      this.#heads.forget()
      this.#reservations.forget()
      this.#claims.forget()
      this.#writer.dropNotes()
      if (begun) this.#rollBack()
      throw storeFailure(error, this.#path)
    } finally {
      this.#toSign = new Map()
    }
  }

  /** With `NORMAL`, a commit is in the log and the log is not synced; the next commit with `FULL` syncs all of the log. */
  #syncAs(lazy: boolean): void {
    if (lazy !== this.#lazy) this.#database.exec(`PRAGMA synchronous = ${lazy ? 'NORMAL' : 'FULL'}`)
    this.#lazy = lazy
    clearTimeout(this.#syncLater)
    // Moving the log into the file syncs it first.
    if (lazy) this.#syncLater = setTimeout(() => this.#syncLog(), lazyFor).unref()
  }

  /** Whatever stays behind is found to be nobody's when this process is gone. */
  #releaseRuns(): void {
    if (!this.#claims.holds) return
    try {
      this.#transact(() => this.#claims.release(), true)
    } catch {
      // A store that cannot be written has said so to whoever wrote.
    }
  }

  #syncLog(): void {
    try {
      if (!this.#closed) this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // Nobody waits for it: the next commit that somebody waits for says what is wrong.
    }
  }

  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself already, as it does when the disk is full.
    }
  }

  #find(run: string): Head {
    const head = isTenantChain(run) ? null : this.#heads.find(run)
    if (head !== null) return head
    throw new LockstepError('invalid_value', `There is no run ${run}.`)
  }

  #ask<Result>(question: () => Result): Result {
    try {
      return question()
    } catch (error) {
      throw storeFailure(error, this.#path)
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new LockstepError('journal_closed', 'The journal is closed.')
  }
}
