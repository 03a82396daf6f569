import type { RunEvent } from './event.ts'
import type { Facts, RunRequest } from './request.ts'
import type { RunState } from './state.ts'
import type { Ticket } from './ticket.ts'

type Request<Type extends RunRequest['type']> = Extract<RunRequest, { type: Type }>

/**
 * Takes what a person said to a held call (G15). What it comes to with what others said, those who know policies find out and say. A
 * vote on a call that waits for none, or too late, changes nothing.
 */
export function decideVote(
  state: RunState,
  { callId, vote, comesTo, requesters }: Request<'vote'>,
  facts: Facts,
): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  const ticket = state.byCallId.get(callId)
  if (ticket === undefined || !isWaiting(ticket) || state.ended !== null) return []
  if (at >= ticket.approval!.expiresAt) return expire(ticket, at)
  const asked = requesters === undefined ? {} : { requesters }
  const voted: RunEvent = { type: 'approval.voted', at, callId, vote: { ...vote, at }, comesTo, ...asked }
  if (comesTo !== 'denied') return [voted]
  const why = vote.reason === null ? '' : `: ${vote.reason}`
  return [voted, voided(callId, at, `${vote.person} denied it${why}`)]
}

/** The calls whose approval came too late, which is nobody's denial. */
export function overdueApproval(state: RunState, now: number): readonly RunEvent[] {
  const at = Math.max(now, state.clock)
  for (const ticket of state.held) {
    if (at >= ticket.approval!.expiresAt) return expire(ticket, at)
  }
  return []
}

/** Whether a call is held and nobody has decided on it. */
export function isWaiting(ticket: Ticket): boolean {
  return isHeld(ticket) && ticket.approval!.state === 'waiting'
}

/** Whether a call waits, for a person or for being made. */
export function isHeld(ticket: Ticket): boolean {
  return ticket.state === 'held'
}

function expire(ticket: Ticket, at: number): readonly RunEvent[] {
  const { callId } = ticket
  return [{ type: 'approval.expired', at, callId }, voided(callId, at, 'its approval came too late')]
}

function voided(callId: string, at: number, error: string): RunEvent {
  return { type: 'tool.settled', at, callId, outcome: 'not_executed', error }
}
