import type { ChainStore } from '../../journal/chain-store.ts'
import type { JournalEntry } from '../../journal/journal.ts'

/** How often a run of another process is looked at, in milliseconds. */
const lookMs = 250

/** The entries of runs as they are written in this process, for whoever follows them. */
export class RunFeed {
  readonly #listeners = new Map<string, Set<() => void>>()
  #ended = false

  /** Tells those who follow the run that there is more of it. */
  tell(run: string, _entries: readonly JournalEntry[]): void {
    for (const wake of this.#listeners.get(run) ?? []) wake()
  }

  /** Nothing more is written here. */
  end(): void {
    this.#ended = true
    for (const listeners of this.#listeners.values()) for (const wake of listeners) wake()
  }

  /** The entries of a run in their order, none twice, until it has ended or the signal aborts. */
  async *follow(
    store: Pick<ChainStore, 'read'>,
    run: string,
    options: { readonly fromSeq: number; readonly signal: AbortSignal; readonly live: () => boolean },
  ): AsyncGenerator<JournalEntry> {
    const { signal, live } = options
    let next = options.fromSeq
    let wake: (() => void) | null = null
    let told = false
    const onTold = () => {
      told = true
      wake?.()
    }
    const listeners = this.#listeners.get(run) ?? new Set()
    this.#listeners.set(run, listeners.add(onTold))
    signal.addEventListener('abort', onTold)
    try {
      while (!signal.aborted) {
        told = false
        const entries = await store.read(run, next)
        let over = false
        for (const entry of entries) {
          yield entry
          next = entry.seq + 1
          if (entry.type === 'run.finished') over = true
        }
        if (over || this.#ended) return
        if (told || signal.aborted) continue
        await new Promise<void>((resolve) => {
          const timer = live() ? undefined : setTimeout(resolve, lookMs)
          wake = () => (clearTimeout(timer), resolve())
        })
      }
    } finally {
      signal.removeEventListener('abort', onTold)
      listeners.delete(onTold)
      if (listeners.size === 0) this.#listeners.delete(run)
    }
  }
}
