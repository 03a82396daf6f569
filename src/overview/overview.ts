/**
 * What lists and charts show of runs. Everything in it follows from the store, so that it can be thrown away at any time.
 *
 * Owns: the file of the views.
 * Talks to: the store, which it only reads.
 *
 * Invariants
 * V1  The cards of a run are a fold of its entries; what was heard of a run and does not follow on what is known of it is read again.
 * V2  How far the store was read is written down in the commit that holds what was read there. What lies behind that mark and was not written is found again.
 * V3  Whoever asks sees everything that was heard before they asked.
 * V4  The views are made anew where they have another form, or go on from a mark that the store does not know.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ChainStore } from '../journal/chain-store.ts'
import { journalVersion, type JournalEntry } from '../journal/journal.ts'
import type { StoreMark } from '../journal/store-changes.ts'
import { analyse, type Analytics, type AnalyticsQuery } from './analytics.ts'
import {
  listApprovals,
  listRuns,
  listSentRuns,
  type ApprovalFilter,
  type RunFilter,
  type ViewPage,
  type ViewScope,
} from './list-runs.ts'
import { CardFold, type RunCard } from './run-card.ts'
import { PlaybookNames } from './playbook-names.ts'
import { unreadableCard } from './unreadable-card.ts'
import { approvalOf, cardOf, type ApprovalCard } from './view-rows.ts'
import { ViewWriter } from './view-writer.ts'
import { openViews, remake } from './views-database.ts'

/** The part of a store that is read. */
export type OverviewStore = Pick<ChainStore, 'sealed' | 'kept' | 'changesSince'>

/** What an overview is made of. */
export interface OverviewOptions {
  /** The file, or `:memory:`. */
  readonly path: string
  readonly store: OverviewStore
  readonly now?: () => number
  /** How often it is looked whether other processes have written something, in milliseconds; 0 for never. */
  readonly everyMs?: number
  /** Hears what kept it from looking. */
  readonly onTrouble?: (error: unknown) => void
}

const findRun = 'SELECT * FROM runs WHERE run = ? AND tenant = ?'
/** How many commits of the store are looked through at once. */
const atOnce = 2000
/** How many runs are kept in memory, so that what they add need not be read from the store. */
const mostFolds = 5000
const mostAsked = 5000

/** The cards of all runs, kept up to date. */
export class Overview {
  readonly #database: DatabaseSync
  readonly #store: OverviewStore
  readonly #now: () => number
  readonly #names: PlaybookNames
  readonly #onTrouble: (error: unknown) => void
  #writer: ViewWriter
  readonly #folds = new Map<string, CardFold>()
  /** Cards that were asked for one by one, as they are written. */
  readonly #asked = new Map<string, RunCard>()
  /** What was heard and is not written yet. */
  readonly #dirty = new Set<string>()
  /** Runs that have to be read from the store. */
  readonly #stale = new Set<string>()
  #mark: StoreMark | null = null
  /** When the next approval can no longer be given. */
  #nextExpiry = -Infinity
  #findRun: StatementSync
  #work: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  private constructor(options: OverviewOptions) {
    this.#store = options.store
    this.#now = options.now ?? Date.now
    this.#onTrouble = options.onTrouble ?? (() => undefined)
    this.#names = new PlaybookNames(options.store)
    this.#database = openViews(options.path)
    this.#writer = new ViewWriter(this.#database)
    this.#findRun = this.#database.prepare(findRun)
    const mark = this.#database.prepare("SELECT value FROM meta WHERE key = 'mark'").get()
    this.#mark = mark === undefined ? null : (JSON.parse(String(mark['value'])) as StoreMark)
  }

  /** Opens the views and brings them up to date. */
  static async open(options: OverviewOptions): Promise<Overview> {
    const overview = new Overview(options)
    await overview.catchUp()
    const { everyMs = 500 } = options
    if (everyMs > 0) overview.#timer = setInterval(() => overview.#look(), everyMs).unref()
    return overview
  }

  /** Takes notice of entries that were just written, in their order. */
  hear(run: string, entries: readonly JournalEntry[]): void {
    const [first] = entries
    if (first === undefined || this.#closed || this.#stale.has(run)) return
    const known = this.#folds.get(run) ?? (first.seq === 1 ? this.#begin(run) : null)
    try {
      for (const entry of entries) {
        if (known === null || entry.seq > known.entries + 1) throw new Error('there is a gap')
        if (entry.seq === known.entries + 1) known.apply(entry)
      }
      this.#dirty.add(run)
    } catch {
      // V1.
      this.#forget(run)
      this.#stale.add(run)
    }
  }

  /** Reads what was written to the store by others, and what was missed. */
  async catchUp(): Promise<void> {
    while (!this.#closed && (await this.#settled(() => this.#readOn()))) {
      // One part after another, so that whoever asks meanwhile gets a turn.
    }
  }

  /** The runs that a filter lets through, the newest first. */
  async runs(scope: ViewScope, filter: RunFilter): Promise<ViewPage<RunCard>> {
    await this.#current()
    return listRuns(this.#database, scope, filter)
  }

  /** The same, each as it is sent, in JSON. */
  async sentRuns(scope: ViewScope, filter: RunFilter): Promise<ViewPage<string>> {
    await this.#current()
    return listSentRuns(this.#database, scope, filter)
  }

  /** The card of a run; null if there is no such run in the tenant. */
  async run(tenant: string, run: string): Promise<RunCard | null> {
    await this.#current()
    const known = this.#asked.get(run)
    if (known !== undefined) return known.tenant === tenant ? known : null
    const row = this.#findRun.get(run, tenant)
    if (row === undefined) return null
    const card = cardOf(row)
    if (this.#asked.size >= mostAsked) this.#asked.clear()
    this.#asked.set(run, card)
    return card
  }

  /** The approvals that a filter lets through, the newest first. */
  async approvals(scope: ViewScope, filter: ApprovalFilter): Promise<ViewPage<ApprovalCard>> {
    await this.#current()
    return listApprovals(this.#database, scope, filter)
  }

  /** The approvals of a tenant with an id: one, or none; ids are short, so that there may be more. Those that wait come first. */
  async approval(tenant: string, id: string): Promise<readonly ApprovalCard[]> {
    await this.#current()
    const query = 'SELECT * FROM approvals WHERE tenant = ? AND id = ? ORDER BY decided, n DESC'
    return this.#database.prepare(query).all(tenant, id).map(approvalOf)
  }

  /** Figures over the runs that began in a time. */
  async analytics(scope: ViewScope, query: AnalyticsQuery): Promise<Analytics> {
    await this.#current()
    return analyse(this.#database, scope, query)
  }

  /** Writes what was heard, and lets go of the file. */
  async close(): Promise<void> {
    if (this.#closed) return
    clearInterval(this.#timer)
    await this.#current().catch(this.#onTrouble)
    this.#closed = true
    await this.#work
    this.#database.close()
  }

  /** Reads the next part of what was written; says whether there is more. */
  async #readOn(): Promise<boolean> {
    const changes = await this.#store.changesSince(this.#mark, atOnce)
    if (!changes.follows) {
      this.#startOver()
      return true
    }
    for (const { run, entries, erased } of changes.runs) {
      const card = this.#writer.card(run)
      const known = this.#folds.get(run)?.entries ?? card?.entries ?? 0
      if (known !== entries || (erased && card?.status !== 'unreadable')) this.#stale.add(run)
    }
    await this.#write(changes.mark)
    return changes.more
  }

  #look(): void {
    void this.catchUp().catch(this.#onTrouble)
  }

  /** V3. */
  async #current(): Promise<void> {
    const now = this.#now()
    if (now >= this.#nextExpiry) this.#expire(now)
    if (this.#dirty.size + this.#stale.size > 0) await this.#settled(() => this.#write(null))
  }

  /** An approval that nobody gave in time waits no longer, whether or not anybody is there to write that down. */
  #expire(now: number): void {
    const over = "FROM approvals WHERE state IN ('waiting', 'granted') AND expires_at"
    const expired = this.#database.prepare(`SELECT DISTINCT run ${over} <= ?`).all(now)
    for (const row of expired) this.#touch(String(row['run']))
    const next = this.#database.prepare(`SELECT MIN(expires_at) AS next ${over} > ?`).get(now)?.['next']
    this.#nextExpiry = typeof next === 'number' ? next : Infinity
  }

  /** One after another; null once it is closed. */
  async #settled<Result>(work: () => Promise<Result>): Promise<Result | null> {
    const done = this.#work.then(async () => (this.#closed ? null : await work()))
    this.#work = done.then(
      () => undefined,
      () => undefined,
    )
    return await done
  }

  /** Has a run's card made again, because time has passed. */
  #touch(run: string): void {
    if (this.#folds.has(run)) this.#dirty.add(run)
    else this.#stale.add(run)
  }

  /** Writes the cards of what was heard and of what has to be read, and with them the mark (V2). */
  async #write(mark: StoreMark | null): Promise<void> {
    const cards = new Map<string, RunCard>()
    while (this.#stale.size > 0) {
      const [run] = this.#stale
      const broken = await this.#read(run!)
      if (broken !== null) cards.set(run!, broken)
    }
    const dirty = [...this.#dirty]
    for (const run of dirty) await this.#names.learn(this.#folds.get(run)?.digest ?? null)
    // Nothing is awaited from here on, so that what is heard meanwhile waits for the next time.
    const now = this.#now()
    this.#database.exec('BEGIN')
    try {
      for (const card of cards.values()) this.#writer.save(card, [])
      for (const run of dirty) this.#save(run, now)
      if (mark !== null)
        this.#database
          .prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('mark', ?)")
          .run(JSON.stringify(mark))
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
    if (mark !== null) this.#mark = mark
    for (const run of [...cards.keys(), ...dirty]) this.#asked.delete(run)
    // What was just written may end sooner than anything before it.
    if (dirty.length > 0) this.#nextExpiry = -Infinity
    for (const run of dirty) {
      this.#dirty.delete(run)
      if (this.#folds.get(run)?.ended === true) this.#folds.delete(run)
    }
    this.#makeRoom()
  }

  #save(run: string, now: number): void {
    const fold = this.#folds.get(run)
    const card = fold?.card(now, this.#names.of(fold.digest)) ?? null
    if (fold !== undefined && card !== null) this.#writer.save(card, fold.held(now))
  }

  /**
   * Folds a run from its beginning. The card of one that cannot be read; else null. The payloads can only have been written by who has the key; whether the chain is
   * whole is looked at where a run is read by itself, and takes as long again.
   */
  async #read(run: string): Promise<RunCard | null> {
    const sealed = await this.#store.sealed(run)
    // What is heard from now on follows on what was just read.
    this.#forget(run)
    const fold = this.#begin(run)
    try {
      for (const [index, { link, payload }] of sealed.entries()) {
        if (payload === null || link.seq !== index + 1) throw new Error('an entry is missing')
        const { seq, at, tenant, principal, type } = link
        fold.apply({ v: journalVersion, run, seq, at, tenant, principal, type, data: payload.data })
      }
    } catch {
      this.#forget(run)
      return unreadableCard(sealed)
    }
    this.#dirty.add(run)
    return null
  }

  #begin(run: string): CardFold {
    const fold = new CardFold()
    this.#folds.set(run, fold)
    return fold
  }

  #forget(run: string): void {
    this.#folds.delete(run)
    this.#dirty.delete(run)
    this.#stale.delete(run)
  }

  #makeRoom(): void {
    for (const run of this.#folds.keys()) {
      if (this.#folds.size <= mostFolds) return
      if (!this.#dirty.has(run)) this.#folds.delete(run)
    }
  }

  /** V4. */
  #startOver(): void {
    remake(this.#database)
    this.#writer = new ViewWriter(this.#database)
    this.#findRun = this.#database.prepare(findRun)
    this.#mark = null
    this.#folds.clear()
    this.#asked.clear()
    this.#dirty.clear()
    this.#stale.clear()
  }
}
