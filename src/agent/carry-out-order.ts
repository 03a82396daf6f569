import type { Json } from '../shared/json.ts'
import { shortText } from '../shared/short-text.ts'
import type { Gate } from '../tool/gate.ts'
import { readOutcome } from '../tool/read-outcome.ts'
import type { RunRequest } from '../run/request.ts'

/** What a person says became of a call whose outcome nobody knew. */
export interface SettleOrder {
  readonly type: 'settle'
  readonly callId: string
  /** `failed` says that nothing was applied. */
  readonly outcome: 'succeeded' | 'failed'
  /** What the call returned, if it succeeded. */
  readonly result?: Json
  readonly by: string
  readonly reason: string | null
}

/** What somebody may want of a run from outside. */
export type RunOrder = Extract<RunRequest, { type: 'cancel' | 'pause' | 'unpause' }> | SettleOrder

/**
 * Carries out what somebody wants of a run; false if it changes nothing, such as what is said of a call whose outcome is known. Throws `invalid_value` for a
 * result that cannot be kept.
 */
export function carryOutOrder(gate: Gate, order: RunOrder): boolean {
  if (order.type !== 'settle') return gate.request(order).answer.length > 0
  const { callId, by, reason } = order
  const ticket = gate.state.byCallId.get(callId)
  // Only what nobody knows is anybody's to say: a call in flight says itself how it ended.
  if (ticket?.state !== 'unknown' || gate.state.ended !== null) return false
  const { tool } = ticket
  const given =
    order.outcome === 'succeeded'
      ? { outcome: order.outcome, ...(order.result === undefined ? {} : { result: order.result }) }
      : { outcome: order.outcome, error: 'a person found out that it did not happen' }
  const note = reason === null ? {} : { note: shortText(reason) }
  const found = { how: 'told', by, ...note } as const
  return (
    gate.request({ type: 'settle', tool, ...readOutcome(tool, given, true), callId, found }).answer.length > 0
  )
}
