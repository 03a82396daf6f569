import { RunControl } from '../../agent/run-control.ts'
import type { RunState } from '../../run/state.ts'
import type { Turnstile } from './turnstile.ts'

type LiveRun = Parameters<RunControl['attach']>[0]

/** Reaches a run at work, and puts its calls behind the turnstile of the engine. */
export class EngineControl extends RunControl {
  readonly #run: string
  readonly #turnstile: Turnstile
  #state: RunState | null = null

  readonly #signal: () => AbortSignal

  /** `signal` is the one by which the run is put down. */
  constructor(run: string, turnstile: Turnstile, signal: () => AbortSignal) {
    super()
    this.#signal = signal
    this.#run = run
    this.#turnstile = turnstile
  }

  /** The run as it was last seen at work; null if it never was. */
  get state(): RunState | null {
    return this.#state
  }

  /** How many calls are under way of which nobody knows yet how they end. */
  get inFlight(): number {
    return [...(this.#state?.openTickets ?? [])].filter(({ state }) => state === 'admitted').length
  }

  /** @internal */
  override attach(live: LiveRun): () => void {
    const { gate } = live
    this.#state = gate.state
    // What waits there has not begun, so that putting the run down ends the waiting, whether or not it would end the call.
    gate.standBehind({
      enter: (call) => this.#turnstile.enter({ ...call, run: this.#run, signal: this.#signal() }),
    })
    return super.attach(live)
  }
}
