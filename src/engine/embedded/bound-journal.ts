/**
 * The store as a run without an engine writes to it: an agent, a Markdown program, a gateway, whoever writes down a vote or a settlement.
 *
 * Owns: which calls of its runs are open, and what they act on.
 *
 * Invariants
 * B1  Nothing is admitted while the tenant is halted (J8).
 * B2  A call that may change something is admitted only with its target, which it keeps until its settlement is written down (J6). What another run
 *     holds is refused, and nothing is written.
 */
import type { ChainStore } from '../../journal/chain-store.ts'
import type { AppendOptions, JournalEntry, JournalFact, Release, Reservation } from '../../journal/journal.ts'
import type { LazyAppend } from '../../journal/lazy-append.ts'
import { isSettlement, targetKey, type RunJournal } from './guarded-journal.ts'

/** A store that halts and locks bind. */
export type BoundJournal = RunJournal & Pick<ChainStore, 'claim'>

/** The store, bound by halts and locks. `isRead` says which tools only look; others are alone with their target. `close` closes the store. */
export function bindJournal(store: ChainStore, isRead: (tool: string) => boolean): BoundJournal {
  const open = new Map<string, OpenCalls>()
  const callsOf = (run: string) => {
    const known = open.get(run) ?? new OpenCalls(isRead)
    open.set(run, known)
    return known
  }
  return {
    ledger: store.ledger,
    async append(run: string, facts: readonly JournalFact[], options: AppendOptions & LazyAppend) {
      const calls = callsOf(run)
      const { reservations, releases } = calls.changes(facts)
      const entries = await store.append(run, facts, {
        ...options,
        reservations: [...(options.reservations ?? []), ...reservations],
        releases: [...(options.releases ?? []), ...releases],
      })
      calls.note(entries)
      if (facts.some(({ type }) => type === 'run.finished')) open.delete(run)
      return entries
    },
    async read(run, fromSeq) {
      const entries = await store.read(run)
      const calls = callsOf(run)
      calls.forget()
      calls.note(entries)
      return fromSeq === undefined ? entries : entries.slice(Math.max(0, fromSeq - 1))
    },
    runs: () => store.runs(),
    keep: (text) => store.keep(text),
    kept: (digest) => store.kept(digest),
    claim: (run) => store.claim(run),
    close: () => store.close(),
  }
}

/** The calls of one run that are open, or of unknown outcome, and what they act on. */
class OpenCalls {
  readonly #isRead: (tool: string) => boolean
  #targets = new Map<string, string>()

  constructor(isRead: (tool: string) => boolean) {
    this.#isRead = isRead
  }

  /** What an append of the facts takes and gives back. */
  changes(facts: readonly JournalFact[]): { reservations: Reservation[]; releases: Release[] } {
    const reservations: Reservation[] = []
    const after = new Map(this.#targets)
    const ended = new Set<string>()
    for (const { type, data } of facts) {
      const callId = String(data['callId'])
      if (type === 'tool.admitted') {
        if (reservations.length === 0) reservations.push({ kind: 'unhalted' })
        const target = this.#lockedBy(data)
        if (target === null) continue
        reservations.push({ kind: 'lock', key: targetKey(target) })
        after.set(callId, target)
      } else if (isSettlement(type, data)) {
        const target = after.get(callId)
        after.delete(callId)
        if (target !== undefined) ended.add(target)
      }
    }
    // Another call of the run may still act on it.
    const still = new Set(after.values())
    const free = [...ended].filter((target) => !still.has(target))
    return { reservations, releases: free.map((target) => ({ kind: 'lock', key: targetKey(target) })) }
  }

  /** Takes notice of what is written down. */
  note(entries: readonly JournalEntry[]): void {
    for (const { type, data } of entries) {
      const target = type === 'tool.admitted' ? this.#lockedBy(data) : null
      if (target !== null) this.#targets.set(String(data['callId']), target)
      else if (isSettlement(type, data)) this.#targets.delete(String(data['callId']))
    }
  }

  forget(): void {
    this.#targets = new Map()
  }

  #lockedBy(data: JournalFact['data']): string | null {
    const target = data['target']
    return typeof target !== 'string' || this.#isRead(String(data['tool'])) ? null : target
  }
}
