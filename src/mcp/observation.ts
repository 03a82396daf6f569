import type { EventOf, RunEvent } from '../run/event.ts'
import type { JsonObject } from '../shared/json.ts'

/** More are counted, not kept. */
const kept = 1000

/** What a playbook would have denied, and how many calls there were (G13). */
export class Observation {
  #calls = 0
  #denied = 0
  readonly #reasons: { readonly tool: string; readonly code: string; readonly message: string }[] = []

  /** Takes in what happened. */
  hear(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'tool.admitted') this.#calls++
      if (event.type === 'finish.refused') this.#hearFinish(event)
      // A call that waits for approval is not denied; it is counted when it is made.
      if (event.type !== 'tool.denied' || event.code === 'awaiting_approval') continue
      // A call that was only observed is admitted too, and counted there.
      if (event.blocked) this.#calls++
      this.#deny(event.tool, event.code, event.message)
    }
  }

  #hearFinish({ remaining, unsettled }: EventOf<'finish.refused'>): void {
    this.#calls++
    const why = [
      ...(remaining.length === 0 ? [] : [`required steps are not done: ${remaining.join(', ')}`]),
      ...(unsettled.length === 0 ? [] : [`calls are not settled: ${unsettled.join(', ')}`]),
    ]
    this.#deny('finish', 'finish_refused', `The final answer comes too early: ${why.join('; ')}.`)
  }

  #deny(tool: string, code: string, message: string): void {
    this.#denied++
    if (this.#reasons.length < kept) this.#reasons.push({ tool, code, message })
  }

  /** The same as data. */
  describe(): JsonObject {
    return { calls: this.#calls, wouldHaveDenied: this.#denied, reasons: this.#reasons }
  }

  /** One line, and one for each reason. */
  lines(): string[] {
    const more = this.#denied - this.#reasons.length
    return [
      `would have denied ${this.#denied} of ${this.#calls} call${this.#calls === 1 ? '' : 's'}`,
      ...this.#reasons.map(({ tool, code, message }) => `  ${tool}: ${code}: ${message}`),
      ...(more > 0 ? [`  … and ${more} more`] : []),
    ]
  }
}
