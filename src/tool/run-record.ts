import type { CallLedger } from '../journal/call-ledger.ts'
import { makeEntries } from '../journal/check-append.ts'
import type { AppendOptions, Journal, JournalEntry, JournalFact } from '../journal/journal.ts'
import type { LazyAppend } from '../journal/lazy-append.ts'
import type { Json } from '../shared/json.ts'
import { keepDocuments, type RunDocuments } from './keep-documents.ts'
import { maySyncLater } from './may-sync-later.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** What a record takes: a run's own events, and what a shell adds to them. */
export interface RecordedEvent {
  readonly type: string
  readonly at: number
}

/** Writes one run into a journal, entry after entry. */
export class RunRecord {
  readonly run: string
  readonly #journal: Journal | null
  readonly #entries: JournalEntry[]
  readonly #author: Omit<AppendOptions, 'expectedSeq'>
  #queue: Promise<void> = Promise.resolve()
  #waiting: JournalFact[] = []
  #lazy = true
  #next: Promise<void> | null = null

  /** `entries` are those that are written already. Without a journal the record lasts as long as this object. */
  constructor(
    run: string,
    journal: Journal | null,
    author: Omit<AppendOptions, 'expectedSeq'>,
    entries: readonly JournalEntry[] = [],
  ) {
    this.run = run
    this.#journal = journal
    this.#author = author
    this.#entries = [...entries]
  }

  /** Keeps the texts that the run's verdicts rest on with its record. */
  async keep(documents: RunDocuments): Promise<void> {
    if (this.#journal !== null) await keepDocuments(this.#journal, documents)
  }

  /** Who counts what all runs of the tenant do; undefined where nobody does. */
  get shared(): { readonly ledger: CallLedger; readonly tenant: string } | undefined {
    const ledger = this.#journal?.ledger
    return ledger === undefined ? undefined : { ledger, tenant: this.#author.tenant }
  }

  /** Everything written so far. */
  get entries(): readonly JournalEntry[] {
    return [...this.#entries]
  }

  /**
   * Appends in the order of the calls; the promise is kept when it is written, and fails if it could not be. Given the run's tools, it
   * does not wait until facts are safe on which nothing outside the run depends.
   */
  write(events: readonly RecordedEvent[], tools: ToolRegistry | null = null): Promise<void> {
    for (const event of events) this.#waiting.push(toFact(event))
    this.#lazy &&= maySyncLater(events, tools)
    // What is written while an append is under way, or in the same moment, is appended together.
    this.#next ??= this.#queue.then(() => this.#append())
    this.#queue = this.#next
    return this.#next
  }

  async #append(): Promise<void> {
    const facts = this.#waiting
    const lazy = this.#lazy
    this.#waiting = []
    this.#lazy = true
    this.#next = null
    const options: AppendOptions & LazyAppend = { ...this.#author, expectedSeq: this.#entries.length, lazy }
    const added =
      (await this.#journal?.append(this.run, facts, options)) ??
      makeEntries(this.run, facts, options, options.expectedSeq)
    this.#entries.push(...added)
  }
}

/** A fact as the journal keeps it: type and time outside, the rest as data. */
function toFact({ type, at, ...data }: RecordedEvent): JournalFact {
  return { type, at, data: data as Readonly<Record<string, unknown>> as Readonly<Record<string, Json>> }
}
