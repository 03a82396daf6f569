import type { Retry } from '../playbook/compile-call.ts'
import { withoutAttempt } from './call-id.ts'
import { delayAfter } from './call-work.ts'
import type { EventOf } from './event.ts'
import type { RunState } from './state.ts'
import { isOpen, type Ticket, type Undo } from './ticket.ts'

/** The undoing of what a run did (G17): one call after another, the one that was settled last first. */
export interface Compensation {
  readonly cause: 'failed' | 'cancelled'
  readonly reason: string
  /** The calls that are still to be undone; the last is next. */
  readonly left: Ticket[]
  /** The ids of those that are undone, in that order. */
  readonly undone: string[]
  /** Why it cannot go on; null while it can. */
  stopped: string | null
  /** Of the next one: tickets so far, failures so far, and the ticket that is held, in flight or of unknown outcome. */
  tickets: number
  failures: number
  ticket: Ticket | null
  dueAt: number
  approved: Ticket | null
}

/** The call that undoes the next of what is left. */
export interface NextUndo {
  readonly of: Ticket
  readonly callId: string
  readonly key: string
  readonly call: Undo
}

/** Undoing is tried more often than doing: nobody is there to do it by hand. */
const leastAttempts = 3
const ownRetry: Retry = { attempts: leastAttempts, delayMs: 1_000, backoff: 2, maxDelayMs: 300_000 }

/** The calls that can be undone, oldest settlement first. */
export function undoable(state: RunState): Ticket[] {
  return state.tickets
    .filter(({ state: stands, undo }) => stands === 'succeeded' && undo !== undefined)
    .sort((one, other) => one.settlement! - other.settlement!)
}

/** Begins to undo. */
export function beginCompensation(state: RunState, event: EventOf<'compensation.begun'>): Compensation {
  const { cause, reason, at } = event
  const left = undoable(state)
  const none = { undone: [], stopped: null, tickets: 0, failures: 0, ticket: null, approved: null }
  return { cause, reason, left, ...none, dueAt: at }
}

/** What is to be undone next; null when all of it is. */
export function nextUndo(state: RunState): NextUndo | null {
  const { compensation } = state
  const of = compensation?.left.at(-1)
  if (compensation == null || of === undefined) return null
  const key = undoKey(state, of)
  const { ticket, tickets } = compensation
  const callId = ticket?.callId ?? (tickets === 0 ? key : `${key}~${tickets + 1}`)
  return { of, callId, key, call: of.undo! }
}

/** `cordon!` undoes `cordon`, whichever attempt succeeded. A model may have used any id, so the next free one is taken. */
function undoKey(state: RunState, of: Ticket): string {
  const whole = isOwn(state, of) ? withoutAttempt(of.callId) : of.callId
  // An id has 256 characters at most, and a model may have used all of them.
  let key = `${whole.length > 200 ? `call-${state.tickets.indexOf(of) + 1}` : whole}!`
  for (;;) {
    const used = state.byCallId.get(key)
    if (used === undefined || used.undoes === of.callId) return key
    key = `${key}!`
  }
}

/** Whether the runtime made the call for a call step. */
function isOwn(state: RunState, { step }: Ticket): boolean {
  return step !== null && state.compiled.steps[step]!.call !== null
}

/** Notes that a call that undoes was let through, or is held. */
export function noteUndoing(compensation: Compensation, ticket: Ticket): void {
  if (compensation.ticket === ticket) return
  compensation.ticket = ticket
  compensation.tickets++
}

/** Notes how a call that undoes ended. */
export function noteUndone(state: RunState, compensation: Compensation, ticket: Ticket): void {
  if (compensation.ticket !== ticket || isOpen(ticket)) return
  compensation.ticket = null
  compensation.approved = null
  compensation.dueAt = ticket.settledAt!
  if (ticket.state === 'succeeded') {
    const done = compensation.left.pop()!
    compensation.undone.push(done.callId)
    compensation.tickets = 0
    compensation.failures = 0
    return
  }
  if (ticket.approval?.state === 'granted') compensation.approved = ticket
  if (ticket.approval?.state === 'denied' || ticket.approval?.state === 'expired') {
    compensation.stopped ??= `${ticket.tool} was not approved: ${ticket.error ?? 'nobody did'}`
  }
  if (ticket.state !== 'failed') return
  const retry = retryOf(state, compensation.left.at(-1)!)
  const times = ++compensation.failures
  if (times < retry.attempts) compensation.dueAt += delayAfter(retry, times)
  else {
    const why = ticket.error ?? 'it does not say why'
    compensation.stopped ??= `${ticket.tool} failed after ${times} attempts: ${why}`
  }
}

function retryOf(state: RunState, { step }: Ticket): Retry {
  const said = step === null ? null : (state.compiled.steps[step]!.call?.retry ?? null)
  return said === null ? ownRetry : { ...said, attempts: Math.max(said.attempts, leastAttempts) }
}

/** How a run ended that undid what it did, or would have: what is undone, and what is left as it is. */
export function describeUndoing(state: RunState, reason: string, stopped: string | null): string {
  const { undone = [], left = [] } = state.compensation ?? {}
  const bare = state.tickets.filter(isBare)
  const parts = [reason]
  if (undone.length > 0) parts.push(`Undone: ${undone.join(', ')}`)
  if (left.length > 0) {
    const ids = left.toReversed().map(({ callId }) => callId)
    parts.push(`Not undone: ${ids.join(', ')} (${stopped ?? 'nobody tried'})`)
  }
  if (bare.length > 0) parts.push(`Nothing says how to undo: ${bare.map(({ callId }) => callId).join(', ')}`)
  return parts.map((part) => part.replace(/\.$/, '')).join('. ')
}

/** It had an effect that stays: it succeeded, it can do more than read, and nothing undoes it. */
function isBare({ state, undo, undoes, reads, shown }: Ticket): boolean {
  const stays = state === 'succeeded' && shown !== true && reads !== true
  return stays && undo === undefined && undoes === undefined
}
