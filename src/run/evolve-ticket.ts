import { admitCall, refuseCall, settleCall } from './evolve-calls.ts'
import type { Activation } from './activation.ts'
import { noteUndoing, noteUndone } from './compensation.ts'
import { invariant } from '../shared/lockstep-error.ts'
import { credit } from './credit.ts'
import type { EventOf } from './event.ts'
import { insertSorted, removeFrom } from './order.ts'
import { activationOf, type RunState } from './state.ts'
import { startClock, stopClock } from './step-clock.ts'
import { closeBefore, look, positionOf } from './step-lists.ts'
import { isOpen, type Ticket } from './ticket.ts'

/** Opens the ticket of a call that was let through or is held. */
export function admit(state: RunState, event: EventOf<'tool.admitted' | 'tool.held'>): void {
  const before = state.byCallId.get(event.callId)
  if (before !== undefined) {
    // It was held: its place is its own, and only now it may have an effect.
    before.state = 'admitted'
    before.admittedAt = event.at
    state.held.delete(before)
    state.made++
    state.past.admit(before)
    if (before.undoes !== undefined) return
    if (before.step !== null) admitCall(state, visitOf(state, before.step, before.visit), before)
    if (before.step !== null) startClock(state, visitOf(state, before.step, before.visit), event.at)
    return
  }
  const index = event.step === null ? null : positionOf(state, event.step)
  const activation = index === null ? null : activationOf(state, index)
  const ticket: Ticket = {
    callId: event.callId,
    tool: event.tool,
    args: event.args,
    target: event.target ?? null,
    step: index,
    visit: activation?.visit ?? 1,
    extra: event.extra,
    observed: event.observed,
    admittedAt: event.at,
    approval:
      event.type === 'tool.held'
        ? {
            askedAt: event.at,
            expiresAt: event.expiresAt,
            demands: event.demands,
            votes: [],
            state: 'waiting',
          }
        : approvalOf(state, event.approvedAs),
    state: event.type === 'tool.held' ? 'held' : 'admitted',
    settledAt: null,
    settlement: null,
    result: undefined,
    error: null,
    ...(event.undoes === undefined ? {} : { undoes: event.undoes }),
    ...(event.facts?.risk === 'read' ? { reads: true } : {}),
  }
  state.tickets.push(ticket)
  state.byCallId.set(ticket.callId, ticket)
  state.openTickets.add(ticket)
  if (ticket.state === 'held') state.held.add(ticket)
  else state.made++
  if (ticket.state !== 'held') state.past.admit(ticket)
  if (ticket.extra) state.extraCalls++
  if (ticket.undoes !== undefined) {
    if (state.compensation !== null) noteUndoing(state.compensation, ticket)
    return
  }
  if (activation === null) return
  activation.tickets.push(ticket)
  activation.used++
  activation.open++
  activation.startedAt ??= event.at
  if (activation.phase === 'lingering') reopen(state, activation, event.at)
  else if (activation.status === 'pending') activation.status = 'in_progress'
  // Where the playbook only observes, a step that is done can be called too: its time is over and done with.
  if (activation.status === 'in_progress') startClock(state, activation, event.at)
  // Nobody works while people are waited for (G8).
  if (
    ticket.state === 'held' &&
    activation.tickets.filter(isOpen).every(({ state: stands }) => stands === 'held')
  )
    stopClock(activation, event.at)
  closeBefore(state, activation.step)
  admitCall(state, activation, ticket)
}

/** What people said to an earlier attempt holds for this one. */
function approvalOf(state: RunState, callId: string | undefined): Ticket['approval'] {
  const approval = callId === undefined ? null : (state.byCallId.get(callId)?.approval ?? null)
  return approval === null ? null : { ...approval, votes: [...approval.votes] }
}

/** A call that was due is given up: what it belongs to fails, or is left as it is. */
export function refuse(state: RunState, event: EventOf<'tool.denied'>): void {
  if (state.compensation !== null) {
    state.compensation.stopped ??= event.message
    return
  }
  const step = event.callId === null ? null : refuseCall(state, event.callId, event.message)
  if (step !== null) look(state, step)
}

/** Notes how a call ended, on its ticket and in its step. */
export function settle(state: RunState, event: EventOf<'tool.settled'>): void {
  const ticket = state.byCallId.get(event.callId)
  invariant(ticket !== undefined, `no call ${event.callId}`)
  const before = ticket.state
  ticket.state = event.outcome
  ticket.settledAt = event.at
  ticket.settlement = ++state.settlements
  ticket.result = event.result
  ticket.error = event.error ?? null
  if (event.undo !== undefined) ticket.undo = event.undo
  if (event.shown !== undefined) ticket.shown = event.shown
  if (event.confirms !== undefined) ticket.confirms = event.confirms
  state.held.delete(ticket)
  if (before !== 'held' && event.outcome === 'not_executed') state.made--
  if (event.outcome === 'unknown') state.unknown.add(ticket)
  else state.unknown.delete(ticket)
  if (before !== 'held') state.past.settle(ticket)
  if (before !== 'unknown' && event.outcome !== 'not_executed') state.totalToolCalls++
  if (before === 'unknown' && event.outcome === 'not_executed') state.totalToolCalls--
  if (event.outcome !== 'unknown') state.openTickets.delete(ticket)
  if (event.outcome === 'not_executed' && ticket.extra) state.extraCalls--
  if (ticket.undoes !== undefined) {
    if (state.compensation !== null) noteUndone(state, state.compensation, ticket)
    return
  }
  if (ticket.step === null) return
  const activation = visitOf(state, ticket.step, ticket.visit)
  if (event.outcome === 'not_executed') activation.used--
  if (event.outcome !== 'unknown') activation.open--
  const purpose = settleCall(state, activation, ticket, before === 'held' ? 'held' : 'made')
  // What is looked at afterwards is no evidence of the call.
  if (event.outcome === 'succeeded' && purpose !== 'verify')
    credit(state.compiled.steps[activation.step]!, activation, ticket)
  look(state, activation)
}

/** The visit that a call was made in: the current one, but where a program visits the step again inside it. */
function visitOf(state: RunState, index: number, visit: number): Activation {
  const current = state.activations[index]!
  if (current.visit === visit) return current
  return state.previous.findLast((each) => each.step === index && each.visit === visit) ?? current
}

function reopen(state: RunState, activation: Activation, at: number): void {
  removeFrom(state.lingering, activation.step)
  insertSorted(state.reopened, activation.step)
  activation.reopened = true
  // What comes after it cannot move now, so its time does not count.
  for (const later of state.timed)
    if (state.compiled.precedes(activation.step, later.step)) stopClock(later, at)
  activation.status = 'in_progress'
  activation.phase = 'open'
  activation.completedAt = null
  insertSorted(state.open, activation.step)
  state.remaining++
}
