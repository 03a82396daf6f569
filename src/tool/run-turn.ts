import type { CallOutcome } from './run-call.ts'

/** One thing a turn asks for, ready to be carried out. */
export interface TurnItem {
  readonly tool: string
  /** It only reads, so it may run beside others that do. */
  readonly shared: boolean
  readonly run: () => Promise<CallOutcome>
}

/**
 * Carries out what one turn asks for (G5): neighbouring reads side by side, everything else in order. After something that
 * was refused or went wrong, later items that write come back `not_executed`.
 */
export async function runTurn(items: readonly TurnItem[]): Promise<CallOutcome[]> {
  const outcomes: CallOutcome[] = []
  let stopped: string | null = null
  for (let at = 0; at < items.length;) {
    const first = items[at]!
    const next = first.shared ? items.findIndex((item, index) => index > at && !item.shared) : at + 1
    const batch = items.slice(at, next === -1 ? items.length : next)
    at += batch.length
    if (stopped !== null && !first.shared) {
      const error = `not executed: ${stopped}`
      outcomes.push({ tool: first.tool, enforcement: null, status: 'not_executed', error })
      continue
    }
    const ended = await Promise.all(batch.map((item) => item.run()))
    outcomes.push(...ended)
    const bad = ended.find(({ status }) => status !== 'succeeded')
    if (bad !== undefined) stopped ??= `'${bad.tool}' before it was not done (${bad.status})`
  }
  return outcomes
}
