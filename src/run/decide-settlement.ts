import { afterSuccess } from './after-settlement.ts'
import type { RunEvent } from './event.ts'
import type { Facts, RunRequest } from './request.ts'
import type { RunState } from './state.ts'
import { isOpen, type Ticket } from './ticket.ts'

type SettleRequest = Extract<RunRequest, { type: 'settle' }>

/**
 * Records how a call ended, on its ticket. Always legal, whatever became of the step or the run meanwhile. A record that
 * no ticket stands behind is kept as `tool.unadmitted`: it counts, and completes nothing.
 */
export function decideSettlement(state: RunState, request: SettleRequest, facts: Facts): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  const ticket = findTicket(state, request)
  if (ticket === null) {
    return [
      { type: 'tool.unadmitted', at, callId: request.callId, tool: request.tool, outcome: request.outcome },
    ]
  }
  const { outcome } = request
  return [
    {
      type: 'tool.settled',
      at,
      callId: ticket.callId,
      error: request.error,
      ...(request.found === undefined ? {} : { found: request.found }),
      outcome: request.outcome,
      result: request.result,
      ...(outcome === 'succeeded' && request.shown === true ? { shown: true } : {}),
      ...(outcome === 'succeeded' ? afterSuccess(state, ticket, request) : {}),
    },
  ]
}

/** A held call has not been made, so nothing can have come of it. */
function canEndSo(ticket: Ticket, { outcome }: SettleRequest): boolean {
  return ticket.state !== 'held' || outcome === 'not_executed'
}

/** By call id where there is one; else the oldest call of that name in flight, else the oldest of unknown outcome. */
function findTicket(state: RunState, request: SettleRequest): Ticket | null {
  if (request.callId !== null) {
    const ticket = state.byCallId.get(request.callId)
    const open = ticket !== undefined && ticket.tool === request.tool && isOpen(ticket)
    return open && canEndSo(ticket, request) ? ticket : null
  }
  let unknown: Ticket | null = null
  for (const ticket of state.openTickets) {
    if (ticket.tool !== request.tool || !canEndSo(ticket, request)) continue
    if (ticket.state !== 'unknown') return ticket
    unknown ??= ticket
  }
  return unknown
}
