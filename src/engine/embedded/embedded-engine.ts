/**
 * The engine of one process over one store.
 *
 * Owns: the runs it has in hand, their timers, and the turnstile their calls pass.
 * Talks to: the store, which holds all there is of a run; whoever sits down to each run (`RunWork`), which makes its calls.
 *
 * Invariants: E1 to E5 of engine.ts, and
 * M1  A run that rests costs no timer but the one that wakes it.
 * M2  What could not be written because something was not to be had is tried again; what cannot be written at all puts its run down, and no other.
 */
import { Interruption } from '../../agent/interruption.ts'
import type { RunOrder } from '../../agent/run-control.ts'
import type { ChainStore } from '../../journal/chain-store.ts'
import type { Halt, JournalEntry } from '../../journal/journal.ts'
import { refusalBehind } from '../../journal/reservation-refusal.ts'
import type { ApprovalVote } from '../../run/approval.ts'
import { dueCalls } from '../../run/due-calls.ts'
import type { RunEnd } from '../../run/event.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import type { Engine, HeldUp, RunLoader, RunRest, RunStanding, RunWork, VoteAnswer } from '../engine.ts'
import { findHoldUp, passFreed } from './find-hold-up.ts'
import { guardJournal, targetKey, type EntryListener, type RunJournal } from './guarded-journal.ts'
import { takeInHand, type Hand } from './hand.ts'
import { RunFeed } from './run-feed.ts'
import { Turnstile } from './turnstile.ts'
import { pause, within } from './wait.ts'

/** What an engine is made of. */
export interface EmbeddedEngineOptions {
  readonly store: ChainStore
  readonly load: RunLoader
  readonly tenant?: string
  /** Hears of a run that could not be taken up, or was put down by a failure. */
  readonly onTrouble?: (run: string, error: unknown) => void
  /** Hears what runs of this engine write down, in its order. */
  readonly onEntries?: EntryListener
  /** Hears that all runs are halted, or may go on. */
  readonly onHalt?: (halt: Halt | null) => void
}

/** The longest time a timer of the platform can hold. */
const longestTimer = 2 ** 31 - 1
/** How long those are waited for that were cut off. */
const lastMs = 100
/** How often it is looked whether another process has given back what is waited for. */
const lookMs = 500
/** How many open runs are taken up together. */
const takenTogether = 200
const retryMs = [20, 50, 100, 250, 500, 1000, 2000] as const

/** Many runs at once in one process. */
export class EmbeddedEngine implements Engine {
  /** Where runs of this engine are written down. */
  readonly journal: RunJournal
  readonly #options: EmbeddedEngineOptions
  readonly #tenant: string
  readonly #turnstile = new Turnstile()
  readonly #feed = new RunFeed()
  readonly #hands = new Map<string, Hand>()
  #halt: Halt | null = null
  #closing = false
  #closed: Promise<void> | null = null
  #watch: NodeJS.Timeout | undefined
  #stays = 0
  #alive: NodeJS.Timeout | undefined

  private constructor(options: EmbeddedEngineOptions) {
    this.#options = options
    this.#tenant = options.tenant ?? 'local'
    this.journal = guardJournal(options.store, this.#turnstile, (run, entries) => this.#heard(run, entries))
  }

  /** Opens an engine over a store that no other engine has. What is locked or halted there stays so. */
  static async open(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
    const engine = new EmbeddedEngine(options)
    for (const { key, run } of await options.store.locks(engine.#tenant)) {
      if (key.startsWith(targetKey(''))) engine.#turnstile.reserve(run, key.slice(targetKey('').length))
    }
    await engine.#noticeHalt()
    return engine
  }

  start(run: string, work: RunWork): Promise<RunRest> {
    this.#assertOpen()
    if (this.#hands.has(run)) throw inHand(run)
    return this.#sitDown(this.#take(run, work), 'start')
  }

  async resume(run: string): Promise<RunRest> {
    this.#assertOpen()
    const known = this.#hands.get(run)
    if (known !== undefined) {
      if (known.sitting === null) return await this.#sitDown(known, 'resume')
      return await this.#rest(known)
    }
    await this.#options.store.claim(run)
    const work = await this.#options.load(run)
    // Somebody else may have been quicker.
    return this.#hands.has(run)
      ? await this.resume(run)
      : await this.#sitDown(this.#take(run, work), 'resume')
  }

  /** Resolves when the run rests the next time, or at once if it is not in hand any more. */
  async nextRest(run: string): Promise<RunRest | null> {
    const hand = this.#hands.get(run)
    return hand === undefined ? null : await this.#staying(this.#rest(hand))
  }

  /** What keeps a run from its next effect, other than runs of this engine; `forGood`: that no process at work will end by itself. */
  async heldUp(run: string, forGood = false): Promise<HeldUp | null> {
    await this.#noticeHalt()
    const [hands, turnstile, { store }] = [this.#hands, this.#turnstile, this.#options]
    return await findHoldUp(run, this.#halt, { hands, turnstile, store, forGood })
  }

  standing(run: string): RunStanding | null {
    const hand = this.#hands.get(run)
    return hand === undefined ? null : { atWork: hand.sitting !== null, reason: hand.reason }
  }

  /** Resolves when nobody is at work on any run. */
  async idle(): Promise<void> {
    for (;;) {
      const sittings = [...this.#hands.values()].flatMap(({ sitting }) => sitting ?? [])
      if (sittings.length === 0) return
      await Promise.allSettled(sittings)
    }
  }

  async recover(): Promise<number> {
    const runs = (await this.#options.store.openRuns(this.#tenant)).filter((run) => !this.#hands.has(run))
    let taken = 0
    // Many at a time, so that they share commits; not all, so that those taken up first go on meanwhile.
    for (let from = 0; from < runs.length && !this.#closing; from += takenTogether) {
      const some = runs.slice(from, from + takenTogether)
      const begun = await Promise.all(some.map((run) => this.#takeUp(run)))
      taken += begun.filter(Boolean).length
    }
    return taken
  }

  async #takeUp(run: string): Promise<boolean> {
    try {
      await this.#options.store.claim(run)
      const work = await this.#options.load(run)
      if (this.#closing || this.#hands.has(run)) return false
      void this.#sitDown(this.#take(run, work), 'resume')
      return true
    } catch (error) {
      this.#options.onTrouble?.(run, error)
      return false
    }
  }

  async order(run: string, order: RunOrder): Promise<boolean> {
    const hand = this.#hands.get(run)
    if (hand === undefined) return await this.#aside(run, (work) => work.order(order))
    const { control, work } = hand
    const changed = await this.#say(
      hand,
      () => control.order(order),
      () => work.order(order),
    )
    if (changed && order.type !== 'pause') this.#stir(hand)
    // Who waits for a model or a person would not notice that the run has ended.
    if (control.live && control.state?.ended != null) hand.controller.abort(new Interruption())
    return changed
  }

  async vote(run: string, callId: string, vote: Omit<ApprovalVote, 'at'>): Promise<VoteAnswer> {
    const hand = this.#hands.get(run)
    if (hand === undefined) return await this.#aside(run, (work) => work.vote(callId, vote))
    const { control, work } = hand
    const said = await this.#say(
      hand,
      () => control.vote(callId, vote),
      () => work.vote(callId, vote),
    )
    if ('comesTo' in said && said.comesTo !== 'waiting') this.#stir(hand)
    return said
  }

  /** Says something to a run: to whoever is at work on it, else into its record, and nobody sits down to it meanwhile (E1). */
  async #say<Said>(hand: Hand, live: () => Said, aside: () => Promise<Said>): Promise<Said> {
    // Whoever sits down to a run reads its record first.
    while (hand.atWork && !hand.control.live) await pause(2, hand.controller.signal)
    if (hand.control.live) {
      const said = live()
      if (hand.control.live) await hand.control.written()
      return said
    }
    // One after another: each reads what the one before it wrote.
    const said = Promise.resolve(hand.writing).then(aside)
    hand.writing = said.catch(() => undefined)
    return await said
  }

  async halt(by: string, reason: string): Promise<boolean> {
    // In this process at once, also while the store is busy.
    this.#turnstile.lock()
    const changed = await this.#options.store.halt(this.#author(by), { at: Date.now(), reason })
    await this.#noticeHalt()
    return changed
  }

  async unhalt(by: string, reason: string): Promise<boolean> {
    const changed = await this.#options.store.unhalt(this.#author(by), { at: Date.now(), reason })
    await this.#noticeHalt()
    return changed
  }

  async halted(): Promise<Halt | null> {
    await this.#noticeHalt()
    return this.#halt
  }

  async runs(): Promise<readonly string[]> {
    return [...this.#hands.keys()]
  }

  tail(run: string, fromSeq: number, signal: AbortSignal): AsyncIterable<JournalEntry> {
    return this.#feed.follow(this.#options.store, run, { fromSeq, signal, live: () => this.#hands.has(run) })
  }

  close({ graceMs = 10_000 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(graceMs)
    return this.#closed
  }

  async #close(graceMs: number): Promise<void> {
    this.#closing = true
    clearInterval(this.#watch)
    this.#turnstile.lock()
    for (const hand of this.#hands.values()) {
      clearTimeout(hand.timer)
      this.#putDown(hand)
    }
    const hands = [...this.#hands.values()]
    const over = Promise.allSettled(hands.map(({ sitting }) => sitting))
    await within(graceMs, over)
    for (const { controller } of hands) controller.abort(new Interruption())
    // Who still does not come back is left: the record says what was in flight, and whoever takes the run up finds out.
    await within(lastMs, over)
    await Promise.allSettled(hands.map(({ work }) => work.close?.()))
    for (const { run, ended, reason, waiters } of hands)
      for (const resolve of waiters.splice(0)) resolve({ run, ended, reason })
    this.#hands.clear()
    this.#feed.end()
  }

  /** E4: what is in flight is waited for, so the signal, which would cut it off, comes after it. */
  #putDown(hand: Hand): void {
    if (hand.control.inFlight === 0) hand.controller.abort(new Interruption())
  }

  #take(run: string, work: RunWork): Hand {
    const hand = takeInHand(run, work, this.#turnstile)
    this.#hands.set(run, hand)
    return hand
  }

  #rest(hand: Hand): Promise<RunRest> {
    return new Promise((resolve) => hand.waiters.push(resolve))
  }

  #stir(hand: Hand): void {
    if (hand.sitting !== null) hand.stirred = true
    else if (hand.ended !== null) this.#standUp(hand)
    else void this.#sitDown(hand, 'resume')
  }

  #sitDown(hand: Hand, how: 'start' | 'resume'): Promise<RunRest> {
    const rest = this.#rest(hand)
    clearTimeout(hand.timer)
    if (this.#closing) hand.reason = 'the engine is closing'
    hand.sitting = (this.#closing ? Promise.resolve() : this.#staying(this.#sit(hand, how))).then(() =>
      this.#standUp(hand),
    )
    return rest
  }

  /** A run may wait for nothing that keeps a process alive, such as another run's target: the process stays all the same. */
  async #staying<Result>(what: Promise<Result>): Promise<Result> {
    if (this.#stays++ === 0)
      this.#alive = setInterval(
        () => void passFreed(this.#options.store, this.#tenant, this.#turnstile).catch(() => undefined),
        lookMs,
      )
    try {
      return await what
    } finally {
      if (--this.#stays === 0) clearInterval(this.#alive)
    }
  }

  async #sit(hand: Hand, first: 'start' | 'resume'): Promise<void> {
    let how = first
    for (let failures = 0; ;) {
      hand.stirred = false
      hand.controller = new AbortController()
      try {
        // Taking a run up may send a call again: not while the tenant is halted.
        if (how === 'resume' || (this.#halt !== null && (await this.#options.store.has(hand.run))))
          await this.#turnstile.untilOpen(hand.controller.signal)
        // What was said meanwhile is written down first, whatever comes while that is waited for.
        for (let written = null; written !== hand.writing; await written) written = hand.writing
        if (this.#closing || hand.ended !== null) return
        hand.atWork = true
        const seat = { signal: hand.controller.signal, control: hand.control }
        const { reason } = await hand.work[how](seat).finally(() => (hand.atWork = false))
        hand.reason = reason
        hand.refusal = null
        how = 'resume'
        failures = 0
        if (hand.ended !== null || this.#closing || !hand.stirred) return
      } catch (error) {
        if (hand.ended !== null) return
        hand.refusal = refusalBehind(error)
        if (hand.refusal === null || this.#closing) {
          // Who comes while somebody else ends the run, or speaks to it after its end, is turned away: nobody has to take it up again.
          hand.ended = await endOf(this.#options.store, hand.run)
          if (hand.ended !== null) return
          hand.reason = error instanceof Error ? error.message : String(error)
          this.#options.onTrouble?.(hand.run, error)
          return
        }
        // M2.
        await this.#noticeHalt()
        await pause(retryMs[Math.min(failures++, retryMs.length - 1)]!, hand.controller.signal)
        if (this.#closing) return
        if (how === 'start' && (await this.#options.store.has(hand.run))) how = 'resume'
      }
    }
  }

  #standUp(hand: Hand): void {
    hand.sitting = null
    clearTimeout(hand.timer)
    // Whoever takes up a run that has ended meanwhile hears no end, and reads it in the record.
    hand.ended ??= hand.control.state?.ended ?? null
    const { run, ended, reason } = hand
    if (ended !== null) {
      this.#hands.delete(run)
      void hand.work.close?.().catch(() => undefined)
    } else if (!this.#closing) this.#wakeAt(hand)
    for (const resolve of hand.waiters.splice(0)) resolve({ run, ended, reason })
  }

  /** M1, E5: when it goes on by itself follows from its state. */
  #wakeAt(hand: Hand): void {
    const { state } = hand.control
    if (state === null || state.suspension !== null) return
    const { next, expires } = dueCalls(state, Date.now())
    // An approval that nobody gave in time moves the run too.
    if (next === null && expires === null) return
    const at = Math.min(next ?? Infinity, expires ?? Infinity)
    const ms = Math.min(Math.max(0, at - Date.now()), longestTimer)
    hand.timer = setTimeout(() => this.#stir(hand), ms)
  }

  #heard(run: string, entries: readonly JournalEntry[]): void {
    this.#feed.tell(run, entries)
    this.#options.onEntries?.(run, entries)
    const hand = this.#hands.get(run)
    if (hand === undefined) return
    for (const { type, data } of entries) if (type === 'run.finished') hand.ended = data['status'] as RunEnd
    if (this.#closing) this.#putDown(hand)
  }

  /** Something for a run that is not in hand: done, and put back. */
  async #aside<Said>(run: string, say: (work: RunWork) => Promise<Said>): Promise<Said> {
    this.#assertOpen()
    await this.#options.store.claim(run)
    const work = await this.#options.load(run)
    try {
      return await say(work)
    } finally {
      await work.close?.()
    }
  }

  /** The store says whether the tenant is halted; somebody without this engine may have halted it, and may let it go on. */
  async #noticeHalt(): Promise<void> {
    const before = this.#halt
    this.#halt = await this.#options.store.halted(this.#tenant)
    if ((before === null) !== (this.#halt === null)) this.#options.onHalt?.(this.#halt)
    clearInterval(this.#watch)
    if (this.#halt === null) {
      if (!this.#closing) this.#turnstile.unlock()
      return
    }
    this.#turnstile.lock()
    if (!this.#closing) this.#watch = setInterval(() => void this.#noticeHalt(), 1000).unref()
  }

  #author(principal: string): { readonly tenant: string; readonly principal: string } {
    return { tenant: this.#tenant, principal }
  }

  #assertOpen(): void {
    if (this.#closing) throw new LockstepError('journal_closed', 'The engine is closing.')
  }
}

function inHand(run: string): LockstepError {
  return new LockstepError('run_in_progress', `Run ${run} is at work in this engine.`, {
    consequence: 'pause',
  })
}

/** How a run ended as its record says; null where it has not, or the record cannot be read. */
async function endOf(store: ChainStore, run: string): Promise<RunEnd | null> {
  const entries = await store.read(run).catch(() => [])
  const finished = entries.findLast(({ type }) => type === 'run.finished')
  return (finished?.data['status'] ?? null) as RunEnd | null
}
