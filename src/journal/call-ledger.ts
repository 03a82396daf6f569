/**
 * What the runs of a tenant did and spent, counted together.
 *
 * Owns: which facts count, and as what.
 *
 * Invariants
 * C1  A call counts from the moment its place is taken, or its admission is written down, and until it is certain that nothing was applied
 *     (`failed`, `not_executed`, only shown). One of unknown outcome counts.
 * C2  Counting and taking a place are one step: of two runs that ask for the last place, one sees that the other has it.
 * C3  What is counted changes in the same commit as the facts that say so.
 * C4  A call of a run below another one counts once, as the call of the run that makes it.
 */
import type { JsonObject } from '../shared/json.ts'
import type { Authorship, JournalFact } from './journal.ts'

/** Calls of these tools, or of all, since a time, of the tenant or of one principal in it. `*` stands for any characters. */
export interface CallWindow {
  readonly key: string
  readonly scope: 'tenant' | 'principal'
  readonly tools: readonly string[] | null
  /** Epoch milliseconds. */
  readonly since: number
}

/** A call that is asked about; it does not count itself. */
export interface LedgerCall {
  readonly run: string
  readonly callId: string
  readonly tool: string
  readonly target: string | null
  readonly at: number
}

/** What is to be counted for a call. */
export interface LedgerQuestion extends Authorship {
  readonly call: LedgerCall
  readonly windows: readonly CallWindow[]
  /** When the day began, in epoch milliseconds. */
  readonly dayBegan: number
}

/** What was counted, without the call that was asked about. */
export interface LedgerCounts {
  readonly windows: Readonly<
    Record<string, { readonly calls: number; readonly targets: number; readonly seen: boolean }>
  >
  /** Of all runs of the tenant; dollars are null where somebody spent at a price that is not known. */
  readonly day: { readonly calls: number; readonly tokens: number; readonly cost: number | null }
}

/** Counts the calls and the spending of all runs of a tenant. */
export interface CallLedger {
  /** What counts at this moment; changes nothing. */
  count(question: LedgerQuestion): Promise<LedgerCounts>
  /** Takes a place for the call, and says what counted before it did (C2). It is kept until the call is given back or settled, or its run ends. */
  take(question: LedgerQuestion): Promise<LedgerCounts>
  /** Gives back the place of a call that was not admitted; one that was is left alone. */
  giveBack(call: Pick<LedgerCall, 'run' | 'callId'>): Promise<void>
}

/** What facts change about what is counted. */
export type LedgerChange =
  | ({ readonly kind: 'made'; readonly principal: string | null } & Omit<LedgerCall, 'run'>)
  | { readonly kind: 'unmade'; readonly callId: string }
  | { readonly kind: 'spent'; readonly at: number; readonly tokens: number; readonly cost: number | null }
  | { readonly kind: 'ended'; readonly at: number }

/** So many days a call is counted at least: no window is longer. */
export const keptCallDays = 400

/** So many days it is known at least what was spent: budgets ask for the day that it is, and a clock may have been wrong. */
export const keptSpendingDays = 40

/** What facts of a run change about what is counted (C1). */
export function ledgerChanges(facts: readonly JournalFact[]): readonly LedgerChange[] {
  const changes: LedgerChange[] = []
  for (const { type, at, data } of facts) {
    switch (type) {
      case 'tool.admitted': {
        const { callId, tool, target } = data
        if (typeof callId !== 'string' || typeof tool !== 'string' || isOnlyShown(data)) break
        const named = typeof target === 'string' ? target : null
        changes.push({ kind: 'made', callId, tool, target: named, at, principal: principalOf(data) })
        break
      }
      case 'tool.settled': {
        const { callId, outcome, shown } = data
        const applied = (outcome === 'succeeded' || outcome === 'unknown') && shown !== true
        if (!applied && typeof callId === 'string') changes.push({ kind: 'unmade', callId })
        break
      }
      case 'model.answered':
      case 'model.consulted':
        changes.push(...spentIn(data, at))
        break
      case 'question.answered':
        if (isObject(data['usage'])) changes.push(...spentIn(data['usage'], at))
        break
      case 'run.finished':
        changes.push({ kind: 'ended', at })
    }
  }
  return changes
}

/** The calls under which another run may have made this one (C4): its id begins with theirs. */
export function callsAround(callId: string): readonly string[] {
  const around: string[] = []
  for (let end = callId.indexOf('/'); end !== -1; end = callId.indexOf('/', end + 1)) {
    around.push(callId.slice(0, end))
  }
  return around
}

/** Whom the policies judged, which need not be who writes. */
function principalOf(data: JsonObject): string | null {
  const { policy } = data
  const facts = isObject(policy) ? policy['facts'] : null
  const principal = isObject(facts) ? facts['principal'] : null
  const id = isObject(principal) ? principal['id'] : null
  return typeof id === 'string' ? id : null
}

/** Whether a call of a dry run is only shown: there, what does not only read is. */
function isOnlyShown({ policy }: JsonObject): boolean {
  const [facts, request] = isObject(policy) ? [policy['facts'], policy['request']] : []
  if (!isObject(facts) || facts['mode'] !== 'dry-run') return false
  return !isObject(request) || request['risk'] !== 'read'
}

function spentIn(usage: JsonObject, at: number): LedgerChange[] {
  const estimated = isObject(usage['estimated']) ? usage['estimated'] : {}
  const tokens = [usage, estimated].reduce(
    (sum, each) => sum + amount(each['promptTokens']) + amount(each['completionTokens']),
    0,
  )
  const { cost } = usage
  if (tokens === 0 && cost === undefined) return []
  return [{ kind: 'spent', at, tokens, cost: typeof cost === 'number' ? cost : null }]
}

function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
