/**
 * Where calls wait before the gate judges them: for their target, while the tenant is halted, or while their run is paused.
 *
 * Owns: who holds which target in this process, and who waits for it.
 * Talks to: nobody. What it holds is also reserved in the journal (guarded-journal.ts), which has the last word.
 *
 * Invariants
 * T1  A target has one holder, a run; the calls of that run pass freely.
 * T2  Who waits for a target gets it in the order of coming.
 * T3  Nobody waits while holding what they do not need: a call holds one target at most, and no call waits for another of its run.
 * T4  A call that was admitted gives its target back when its settlement is written down; one of unknown outcome keeps it.
 */
import { targetOf } from '../../tool/target-of.ts'
import type { ComingCall } from '../../tool/turnstile.ts'

/** A call of a run that is about to be judged. */
export interface RunCall extends ComingCall {
  readonly run: string
}

interface Holder {
  readonly run: string
  /** The calls of the run that act on the target. */
  readonly calls: Set<string>
}

interface Waiting {
  readonly run: string
  readonly callId: string
  readonly go: () => void
}

/** Told when a call was judged and is over, or was not even judged. */
export type Leave = () => void

const nothing: Leave = () => undefined

/** Lets calls pass one after another where they act on the same target. */
export class Turnstile {
  readonly #holders = new Map<string, Holder>()
  readonly #queues = new Map<string, Waiting[]>()
  readonly #targets = new Map<string, Map<string, string>>()
  /** What runs hold that nobody has taken up yet. */
  readonly #reserved = new Map<string, string[]>()
  readonly #admitted = new Set<string>()
  #closed: Promise<void> | null = null
  #open: (() => void) | null = null

  /** Lets nothing pass until `unlock`. */
  lock(): void {
    this.#closed ??= new Promise((resolve) => (this.#open = resolve))
  }

  /** Lets pass again what waits. */
  unlock(): void {
    this.#open?.()
    this.#closed = null
    this.#open = null
  }

  /** Passes at once where nothing stands in the way, so that the outcome of one call and the intent of the next are written together. */
  enter(call: RunCall): Leave | Promise<Leave | null> {
    if (this.#closed !== null) return this.#enterLater(call)
    const target = lockedTarget(call)
    if (target === null) return nothing
    const taken = this.#take(target, call)
    return taken ? () => this.#leave(call.run, call.callId) : this.#wait(target, call)
  }

  /** The target that a call which has passed acts on; null for none. */
  targetFor(run: string, callId: string): string | null {
    return this.#targets.get(run)?.get(callId) ?? null
  }

  /** Says whether another call of the run acts on the target. */
  isShared(run: string, callId: string, target: string): boolean {
    const holder = this.#holders.get(target)
    return holder?.run === run && holder.calls.size > (holder.calls.has(callId) ? 1 : 0)
  }

  /** Takes over what a run holds that is taken up: a call of its record that is open. What the run does not hold it does not get. */
  adopt(run: string, callId: string, target: string): void {
    if (this.#holders.get(target)?.run !== run) return
    this.#hold(target, run, callId)
    this.#admitted.add(key(run, callId))
  }

  /** A target that a run of another process or an earlier time holds, as the journal says. */
  reserve(run: string, target: string): void {
    if (this.#holders.has(target)) return
    this.#holders.set(target, { run, calls: new Set() })
    const own = this.#reserved.get(run)
    if (own === undefined) this.#reserved.set(run, [target])
    else own.push(target)
  }

  /** The call's admission is written down: from now on its settlement gives the target back (T4). */
  noteAdmitted(run: string, callId: string): void {
    if (this.#targets.get(run)?.has(callId) === true) this.#admitted.add(key(run, callId))
  }

  /** The call's settlement is written down. */
  noteSettled(run: string, callId: string): void {
    this.#admitted.delete(key(run, callId))
    this.#free(run, callId)
  }

  /** The run has ended, and holds nothing. */
  noteEnded(run: string): void {
    const calls = Array.from(this.#targets.get(run)?.keys() ?? [])
    for (const callId of calls) this.noteSettled(run, callId)
    const left = this.#reserved.get(run) ?? []
    this.#reserved.delete(run)
    for (const target of left) if (this.#holders.get(target)?.run === run) this.#pass(target)
  }

  /** The target that a run waits for, and the run that holds it; null if it waits for none. */
  waitsFor(run: string): { readonly target: string; readonly run: string } | null {
    for (const [target, queue] of this.#queues)
      if (queue.some((waiting) => waiting.run === run))
        return { target, run: this.#holders.get(target)?.run ?? run }
    return null
  }

  /** The targets that are waited for and that runs hold which nobody has taken up here. */
  wantedFromOthers(): readonly string[] {
    return [...this.#queues.keys()].filter((target) => this.#holders.get(target)?.calls.size === 0)
  }

  /** A target that a run of another process held is free. */
  giveBack(target: string): void {
    if (this.#holders.get(target)?.calls.size === 0) this.#pass(target)
  }

  /** Waits while nothing may pass, or until the signal aborts. */
  async untilOpen(signal: AbortSignal): Promise<void> {
    while (this.#closed !== null && !signal.aborted) await this.#opening(signal)
  }

  async #enterLater(call: RunCall): Promise<Leave | null> {
    while (this.#closed !== null && call.signal?.aborted !== true) await this.#opening(call.signal)
    if (call.signal?.aborted === true) return null
    return await this.enter(call)
  }

  #opening(signal: AbortSignal | undefined): Promise<unknown> {
    if (signal === undefined) return this.#closed!
    let stop: () => void = nothing
    const aborted = new Promise<void>((resolve) => {
      stop = () => resolve()
      signal.addEventListener('abort', stop, { once: true })
    })
    return Promise.race([this.#closed, aborted]).finally(() => signal.removeEventListener('abort', stop))
  }

  #take(target: string, { run, callId }: RunCall): boolean {
    const holder = this.#holders.get(target)
    // Behind others who wait, a run that holds the target already goes on: they wait for it.
    if (holder !== undefined && holder.run !== run) return false
    this.#hold(target, run, callId)
    return true
  }

  #hold(target: string, run: string, callId: string): void {
    const holder = this.#holders.get(target)
    if (holder === undefined) this.#holders.set(target, { run, calls: new Set([callId]) })
    else holder.calls.add(callId)
    const own = this.#targets.get(run)
    if (own === undefined) this.#targets.set(run, new Map([[callId, target]]))
    else own.set(callId, target)
  }

  #wait(target: string, call: RunCall): Promise<Leave | null> {
    const { run, callId, signal } = call
    return new Promise((resolve) => {
      const queue = this.#queues.get(target) ?? []
      this.#queues.set(target, queue)
      const onAbort = () => {
        const index = queue.indexOf(waiting)
        if (index >= 0) queue.splice(index, 1)
        resolve(null)
      }
      const waiting: Waiting = {
        run,
        callId,
        go: () => {
          signal?.removeEventListener('abort', onAbort)
          // It may have been closed meanwhile: then what was waited for is given on, and asked for again.
          if (this.#closed === null) return resolve(() => this.#leave(run, callId))
          this.#leave(run, callId)
          resolve(this.#enterLater(call))
        },
      }
      queue.push(waiting)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** A call that was not admitted gives its target back at once. */
  #leave(run: string, callId: string): void {
    if (!this.#admitted.has(key(run, callId))) this.#free(run, callId)
  }

  #free(run: string, callId: string): void {
    const own = this.#targets.get(run)
    const target = own?.get(callId)
    if (target === undefined) return
    own!.delete(callId)
    if (own!.size === 0) this.#targets.delete(run)
    const holder = this.#holders.get(target)
    if (holder?.run !== run) return
    holder.calls.delete(callId)
    if (holder.calls.size === 0) this.#pass(target)
  }

  /** Gives a target to who has waited longest (T2). */
  #pass(target: string): void {
    this.#holders.delete(target)
    const queue = this.#queues.get(target)
    const next = queue?.shift()
    if (queue !== undefined && queue.length === 0) this.#queues.delete(target)
    if (next === undefined) return
    this.#hold(target, next.run, next.callId)
    next.go()
  }
}

/** What a call is alone with. A tool that only reads shares what it looks at. */
function lockedTarget({ tool, args }: RunCall): string | null {
  return tool === null || tool.risk === 'read' ? null : targetOf(tool, args)
}

function key(run: string, callId: string): string {
  return `${run} ${callId}`
}
