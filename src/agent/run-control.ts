import type { ApprovalVote } from '../run/approval.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Gate } from '../tool/gate.ts'
import { carryOutOrder, type RunOrder } from './carry-out-order.ts'

export type { RunOrder, SettleOrder } from './carry-out-order.ts'

/** A run that somebody is at work on. */
interface LiveRun {
  readonly gate: Gate
  wake(): void
}

/** Reaches a run while it is at work: give it with the options of the run. One control is for one run at a time. */
export class RunControl {
  #live: LiveRun | null = null

  /** Whether the run is at work. */
  get live(): boolean {
    return this.#live !== null
  }

  /** Cancels, pauses or goes on with the run, or says what became of a call of it. False if that changed nothing. Throws `usage` if it is not at work. */
  order(order: RunOrder): boolean {
    const { gate, wake } = this.#run
    const changed = carryOutOrder(gate, order)
    wake()
    return changed
  }

  /** Takes what a person says to a held call; what that comes to, or why it does not count. Throws `usage` if the run is not at work. */
  vote(
    callId: string,
    vote: Omit<ApprovalVote, 'at'>,
  ): { readonly comesTo: string } | { readonly refused: string } {
    const { gate, wake } = this.#run
    const said = gate.vote(callId, vote)
    wake()
    return said
  }

  /** Waits until what was said is written down. */
  async written(): Promise<void> {
    await this.#run.gate.written()
  }

  /** Connects the run that begins its work; returns how it is let go. @internal */
  attach(live: LiveRun): () => void {
    this.#live = live
    return () => {
      if (this.#live === live) this.#live = null
    }
  }

  get #run(): LiveRun {
    if (this.#live !== null) return this.#live
    throw new LockstepError('usage', 'The run is not at work, so it cannot be reached this way.', {
      hint: 'Write it into its record instead: Agent.order, Agent.vote.',
    })
  }
}
