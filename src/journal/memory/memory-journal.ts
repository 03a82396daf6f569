import { LockstepError } from '../../shared/lockstep-error.ts'
import { makeEntries } from '../check-append.ts'
import type { AppendOptions, Journal, JournalEntry, JournalFact } from '../journal.ts'

/** A journal that lasts as long as the process: for tests, and for runs nobody needs to prove. */
export class MemoryJournal implements Journal {
  readonly #entries = new Map<string, JournalEntry[]>()
  #closed = false

  async append(
    run: string,
    facts: readonly JournalFact[],
    options: AppendOptions,
  ): Promise<readonly JournalEntry[]> {
    if (this.#closed) throw new LockstepError('journal_closed', 'The journal is closed.')
    const entries = this.#entries.get(run) ?? []
    const added = makeEntries(run, facts, options, entries.length)
    entries.push(...added)
    this.#entries.set(run, entries)
    return added
  }

  async read(run: string, fromSeq = 1): Promise<readonly JournalEntry[]> {
    return (this.#entries.get(run) ?? []).slice(Math.max(0, fromSeq - 1))
  }

  async runs(): Promise<readonly string[]> {
    return [...this.#entries.keys()].sort()
  }

  async close(): Promise<void> {
    this.#closed = true
  }
}
