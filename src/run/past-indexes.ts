import type { ExpressionValue } from '../expression/expression-value.ts'
import type { PastIndex } from '../playbook/compile-playbook.ts'
import type { Past } from '../playbook/condition-scope.ts'
import { pastKey, type PastTally } from '../playbook/past-query.ts'
import type { Ticket } from './ticket.ts'

/** Answers what conditions ask about earlier calls, at a cost that does not grow with their number. */
export class PastIndexes implements Past {
  readonly #byTool: ReadonlyMap<string, readonly PastIndex[]>
  readonly #tallies = new Map<string, Map<string, PastTally>>()

  constructor(byTool: ReadonlyMap<string, readonly PastIndex[]>) {
    this.#byTool = byTool
    for (const indexes of byTool.values()) {
      for (const { shape } of indexes) this.#tallies.set(shape, new Map())
    }
  }

  tally(shape: string, key: string): PastTally | undefined {
    return this.#tallies.get(shape)?.get(key)
  }

  /** Counts an admitted call as open. */
  admit(ticket: Ticket): void {
    this.#each(ticket, (tally) => tally.open++)
  }

  /** Counts how an open call ended; an unknown outcome leaves it open. */
  settle(ticket: Ticket): void {
    if (ticket.state === 'unknown') return
    this.#each(ticket, (tally) => {
      tally.open--
      if (ticket.state === 'failed') tally.failed++
      if (ticket.state !== 'succeeded') return
      tally.succeeded++
      tally.result = ticket.result
    })
  }

  #each(ticket: Ticket, change: (tally: PastTally) => void): void {
    const indexes = this.#byTool.get(ticket.tool)
    if (indexes === undefined) return
    for (const { shape, names } of indexes) {
      const values = argumentsOf(ticket, names)
      if (values === null) continue
      const tallies = this.#tallies.get(shape)!
      const key = pastKey(values)
      let tally = tallies.get(key)
      if (tally === undefined) {
        tally = { succeeded: 0, failed: 0, open: 0, result: undefined }
        tallies.set(key, tally)
      }
      change(tally)
    }
  }
}

/** The arguments with these names, or null if the call lacks one and so cannot match. */
function argumentsOf(ticket: Ticket, names: readonly string[]): ExpressionValue[] | null {
  const values: ExpressionValue[] = []
  for (const name of names) {
    if (ticket.args === null || !Object.hasOwn(ticket.args, name)) return null
    values.push(ticket.args[name]!)
  }
  return values
}
