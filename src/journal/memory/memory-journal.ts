import { LockstepError } from '../../shared/lockstep-error.ts'
import { checkHead, copyFacts, placeFacts } from '../check-append.ts'
import {
  closingTypes,
  type AppendOptions,
  type JournalEntry,
  type JournalFact,
  type LeasedJournal,
} from '../journal.ts'
import { MemoryLedger } from './memory-ledger.ts'
import { MemoryReservations } from './memory-reservations.ts'

/** A journal that lasts as long as the process: for tests, and for runs nobody needs to prove. */
export class MemoryJournal implements LeasedJournal {
  readonly ledger = new MemoryLedger()
  readonly #entries = new Map<string, JournalEntry[]>()
  readonly #epochs = new Map<string, number>()
  readonly #reservations = new MemoryReservations()
  #closed = false

  async append(
    run: string,
    facts: readonly JournalFact[],
    options: AppendOptions,
  ): Promise<readonly JournalEntry[]> {
    if (this.#closed) throw new LockstepError('journal_closed', 'The journal is closed.')
    const copied = copyFacts(run, facts)
    const entries = this.#entries.get(run) ?? []
    const tenant = entries[0]?.tenant ?? null
    checkHead(run, options, { seq: entries.length, tenant, epoch: this.#epochs.get(run) ?? 0 })
    this.#reservations.change(run, options)
    const added = placeFacts(run, copied, options, entries.length)
    entries.push(...added)
    this.#entries.set(run, entries)
    this.ledger.note(run, copied, options)
    if (added.some(({ type }) => closingTypes.has(type))) this.#reservations.freeLocks(run, options.tenant)
    return added
  }

  async read(run: string, fromSeq = 1): Promise<readonly JournalEntry[]> {
    return (this.#entries.get(run) ?? []).slice(Math.max(0, fromSeq - 1))
  }

  async runs(): Promise<readonly string[]> {
    return [...this.#entries.keys()].sort()
  }

  async takeLease(run: string): Promise<number> {
    const epoch = (this.#epochs.get(run) ?? 0) + 1
    this.#epochs.set(run, epoch)
    return epoch
  }

  async close(): Promise<void> {
    this.#closed = true
  }
}
