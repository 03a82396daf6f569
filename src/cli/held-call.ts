import type { JournalEntry } from '../app.ts'
import type { ApprovalDemand, PolicyDecision } from '../policy/decision.ts'
import type { ApprovalVote } from '../run/approval.ts'
import { approvalId } from '../run/approval-id.ts'
import type { JsonObject } from '../shared/json.ts'

/** Where a call stands that was held: `used` was made, `void` gave its place back for another reason than a person's denial. */
export type HeldState = 'waiting' | 'granted' | 'denied' | 'expired' | 'used' | 'void'

/** A call that was held for approval, as the record of its run tells. */
export interface HeldCall {
  /** Short and stable: made of the run and the call. */
  readonly id: string
  readonly run: string
  readonly callId: string
  readonly tool: string
  readonly args: JsonObject
  readonly step: string | null
  readonly askedAt: number
  readonly askedBy: string
  readonly expiresAt: number
  readonly demands: readonly ApprovalDemand[]
  readonly decision: Pick<PolicyDecision, 'rule' | 'policy' | 'reason'>
  readonly votes: readonly ApprovalVote[]
  readonly state: HeldState
  /** Whether the run still keeps its place, so that taking the run up matters to it. */
  readonly open: boolean
  /** Whether a model proposed the call, so that its arguments are the model's words; of a client of a gateway that is taken for granted. */
  readonly byModel: boolean
  /** Whether a gateway serves the run: its client goes on with it. */
  readonly served: boolean
}

/** Every call of a run that was ever held, in order, and where each stands at a time. */
export function heldCalls(entries: readonly JournalEntry[], now: number): readonly HeldCall[] {
  const held = new Map<string, HeldCall>()
  const proposed = new Set<string>()
  const served = entries.some(({ type }) => type === 'gateway.opened')
  let ended = false
  const move = (callId: string, change: (call: HeldCall) => Partial<HeldCall>) => {
    const call = held.get(callId)
    if (call !== undefined) held.set(callId, { ...call, ...change(call) })
  }
  for (const entry of entries) {
    const { type, data } = entry
    const callId = String(data['callId'])
    if (type === 'model.answered') for (const id of proposedIn(data)) proposed.add(id)
    if (type === 'tool.held') held.set(callId, heldBy(entry, callId, proposed.has(callId), served))
    if (type === 'approval.voted') {
      const state = data['comesTo'] as HeldState
      move(callId, ({ votes }) => ({ state, votes: [...votes, data['vote'] as unknown as ApprovalVote] }))
    }
    if (type === 'approval.expired') move(callId, () => ({ state: 'expired' }))
    if (type === 'tool.admitted') move(callId, () => ({ state: 'used', open: false }))
    if (type === 'tool.settled')
      move(callId, ({ state }) => ({
        state: state === 'waiting' || state === 'granted' ? 'void' : state,
        open: false,
      }))
    if (type === 'run.finished') ended = true
  }
  return [...held.values()].map((call) => {
    if (!call.open) return call
    if (ended) return { ...call, state: 'void', open: false }
    return now >= call.expiresAt ? { ...call, state: 'expired' } : call
  })
}

function heldBy(
  { run, at, data, principal }: JournalEntry,
  callId: string,
  proposed: boolean,
  served: boolean,
): HeldCall {
  const { decision } = data['policy'] as unknown as { decision: HeldCall['decision'] }
  return {
    id: approvalId(run, callId),
    run,
    callId,
    tool: String(data['tool']),
    args: (data['args'] ?? {}) as JsonObject,
    step: data['step'] as string | null,
    askedAt: at,
    askedBy: principal,
    expiresAt: Number(data['expiresAt']),
    demands: data['demands'] as unknown as readonly ApprovalDemand[],
    decision,
    votes: [],
    state: 'waiting',
    open: true,
    byModel: proposed || served,
    served,
  }
}

/** The ids that the calls of a model's turn have in the run. */
function proposedIn(data: JsonObject): string[] {
  const calls = Array.isArray(data['calls']) ? (data['calls'] as readonly { id?: unknown }[]) : []
  return calls.map(({ id }) => `${String(data['number'])}.${String(id)}`)
}
