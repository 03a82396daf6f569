import {
  callsAround,
  ledgerChanges,
  type CallLedger,
  type CallWindow,
  type LedgerCall,
  type LedgerCounts,
  type LedgerQuestion,
} from '../call-ledger.ts'
import type { Authorship, JournalFact } from '../journal.ts'

type MadeCall = LedgerCall & Authorship & { readonly written: boolean }

/** What the runs of one process did and spent. */
export class MemoryLedger implements CallLedger {
  readonly #calls = new Map<string, MadeCall>()
  readonly #spent: { tenant: string; at: number; tokens: number; cost: number | null }[] = []

  async count({ tenant, principal, call, windows, dayBegan }: LedgerQuestion): Promise<LedgerCounts> {
    const own = keyOf(call.run, call.callId)
    const others = [...this.#calls].flatMap(([key, made]) =>
      key === own || made.tenant !== tenant ? [] : made,
    )
    const today = this.#spent.filter((each) => each.tenant === tenant && each.at >= dayBegan)
    return {
      windows: Object.fromEntries(
        windows.map((window) => [window.key, countIn(window, others, principal, call)]),
      ),
      day: {
        calls: others.filter(({ at }) => at >= dayBegan).length,
        tokens: today.reduce((sum, { tokens }) => sum + tokens, 0),
        cost: today.reduce<number | null>(
          (sum, { cost }) => (sum === null || cost === null ? null : sum + cost),
          0,
        ),
      },
    }
  }

  async take(question: LedgerQuestion): Promise<LedgerCounts> {
    const { tenant, principal, call } = question
    // Nothing is awaited in between: what `count` works out, it works out at once.
    const counts = this.count(question)
    const key = keyOf(call.run, call.callId)
    if (this.#calls.get(key)?.written !== true)
      this.#calls.set(key, { ...call, tenant, principal, written: false })
    return await counts
  }

  async giveBack({ run, callId }: Pick<LedgerCall, 'run' | 'callId'>): Promise<void> {
    const key = keyOf(run, callId)
    if (this.#calls.get(key)?.written === false) this.#calls.delete(key)
  }

  /** Counts what facts say that were appended. */
  note(run: string, facts: readonly JournalFact[], { tenant, principal }: Authorship): void {
    for (const change of ledgerChanges(facts)) {
      if (change.kind === 'made') {
        const { kind: _, principal: judged, ...call } = change
        if (callsAround(call.callId).some((around) => this.#calls.has(keyOf(run, around)))) continue
        const key = keyOf(run, call.callId)
        const taken = this.#calls.get(key) ?? { run, ...call, tenant, principal: judged ?? principal }
        this.#calls.set(key, { ...taken, written: true })
      } else if (change.kind === 'unmade') this.#calls.delete(keyOf(run, change.callId))
      else if (change.kind === 'spent') {
        const { at, tokens, cost } = change
        this.#spent.push({ tenant, at, tokens, cost })
      } else {
        for (const [key, made] of this.#calls) if (made.run === run && !made.written) this.#calls.delete(key)
      }
    }
  }
}

function countIn(
  { scope, tools, since }: CallWindow,
  made: readonly MadeCall[],
  principal: string,
  { target }: LedgerCall,
) {
  const fits = tools?.map((pattern) => patternOf(pattern))
  const counted = made.filter(
    (each) =>
      each.at >= since &&
      (scope === 'tenant' || each.principal === principal) &&
      (fits === undefined || fits.some((pattern) => pattern.test(each.tool))),
  )
  const targets = new Set(counted.map((each) => each.target))
  return { calls: counted.length, targets: targets.size, seen: targets.has(target) }
}

function patternOf(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^A-Za-z0-9_]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('[^]*')}$`)
}

function keyOf(run: string, callId: string): string {
  return JSON.stringify([run, callId])
}
