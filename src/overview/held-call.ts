import type { JournalEntry } from '../journal/journal.ts'
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

/** The entries of a run that say something of its held calls. */
type Told = Pick<JournalEntry, 'run' | 'type' | 'at' | 'principal' | 'data'>

/** The held calls of one run, as its entries are told one after another. */
export class HeldCalls {
  readonly #held = new Map<string, HeldCall>()
  readonly #proposed = new Set<string>()
  #served = false
  #ended = false

  /** Takes notice of the next entry. */
  apply(entry: Told): void {
    const { type, data } = entry
    switch (type) {
      case 'gateway.opened':
        this.#served = true
        break
      case 'model.answered':
        for (const id of proposedIn(data)) this.#proposed.add(id)
        break
      case 'tool.held': {
        const callId = String(data['callId'])
        this.#held.set(callId, heldBy(entry, callId, this.#proposed.has(callId), this.#served))
        break
      }
      case 'approval.voted':
        this.#move(data, ({ votes }) => ({
          state: data['comesTo'] as HeldState,
          votes: [...votes, data['vote'] as unknown as ApprovalVote],
        }))
        break
      case 'approval.expired':
        this.#move(data, () => ({ state: 'expired' }))
        break
      case 'tool.admitted':
        this.#move(data, () => ({ state: 'used', open: false }))
        break
      case 'tool.settled':
        this.#move(data, ({ state }) => ({
          state: state === 'waiting' || state === 'granted' ? 'void' : state,
          open: false,
        }))
        break
      case 'run.finished':
        this.#ended = true
        break
      default:
    }
  }

  /** All of them in the order in which they were held, and where each stands at a time. */
  at(now: number): readonly HeldCall[] {
    return Array.from(this.#held.values(), (call) => {
      if (!call.open) return call
      // What a person has denied, and what ended in another way, stays so.
      const undecided = call.state === 'waiting' || call.state === 'granted'
      if (this.#ended) return { ...call, state: undecided ? 'void' : call.state, open: false }
      return undecided && now >= call.expiresAt ? { ...call, state: 'expired' } : call
    })
  }

  #move(data: JsonObject, change: (call: HeldCall) => Partial<HeldCall>): void {
    if (this.#held.size === 0) return
    const callId = String(data['callId'])
    const call = this.#held.get(callId)
    if (call !== undefined) this.#held.set(callId, { ...call, ...change(call) })
  }
}

/** Every call of a run that was ever held, in order, and where each stands at a time. */
export function heldCalls(entries: readonly Told[], now: number): readonly HeldCall[] {
  const held = new HeldCalls()
  for (const entry of entries) held.apply(entry)
  return held.at(now)
}

function heldBy(
  { run, at, data, principal }: Told,
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
