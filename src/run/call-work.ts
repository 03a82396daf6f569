/**
 * Where the calls of one visit of a call step stand.
 *
 * Owns: slots, one for each item, and what is known of them.
 * Talks to: nothing; `evolve` and the reader of snapshots are its only writers.
 *
 * Invariants
 * W1  It follows from the tickets of the visit, and from a refusal that ended it: reading them again gives an equal one.
 * W2  A slot has one ticket that is not settled at most.
 * W3  `idle` holds, in order of items, every slot that has begun and waits: for its time, for people, or for its next call.
 */
import type { CompiledCall, Retry } from '../playbook/compile-call.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import type { CallName } from './call-id.ts'
import { isOpen, type Ticket } from './ticket.ts'

/** The call for one item, its attempts and its checks. */
export interface CallSlot {
  readonly item: number
  /** The arguments as they were first sent: every attempt sends the same. */
  args: JsonObject | null
  stage: 'call' | 'verify'
  /** Tickets so far, by which ids are numbered. */
  calls: number
  checks: number
  /** Attempts that failed, and checks that did or that did not hold. */
  failures: number
  misses: number
  /** Held, in flight or of unknown outcome; null while there is none. */
  ticket: Ticket | null
  /** The call that succeeded. */
  made: Ticket | null
  /** When its next call is due. */
  dueAt: number
  /** A call that people approved and that certainly was not applied: its approval holds for the next attempt. */
  approved: Ticket | null
}

/** What the machine worked out in one version of the state; only so that it need not be worked out twice. */
export interface KnownInputs {
  readonly version: number
  items: unknown
  readonly args: Map<number, unknown>
}

/** The calls of one visit of a call step. */
export interface CallWork {
  /** The items of `foreach`, fixed when the first call is made; null before, and where there is no `foreach`. */
  items: readonly Json[] | null
  /** The items are not known, as in a dry run: one call stands for all. */
  unknownItems: boolean
  readonly slots: CallSlot[]
  readonly idle: CallSlot[]
  /** Calls in flight or of unknown outcome. */
  flying: number
  /** Slots that are done. */
  finished: number
  /** No item before it is still to begin. */
  next: number
  /** Why the step fails once nothing of it is in flight. */
  failure: string | null
  /** What the step gave, kept once it was asked for. */
  output: Json | undefined
  known: KnownInputs | null
}

/** The calls of a visit of which none is made. */
export function createCallWork(): CallWork {
  return {
    items: null,
    unknownItems: false,
    slots: [],
    idle: [],
    flying: 0,
    finished: 0,
    next: 0,
    failure: null,
    output: undefined,
    known: null,
  }
}

/** Notes that a call was let through, or is held. */
export function noteAdmitted(work: CallWork, name: CallName, ticket: Ticket): void {
  const item = name.item ?? 0
  let slot = work.slots[item]
  if (slot === undefined) {
    slot = createSlot(item)
    work.slots[item] = slot
    insertSlot(work.idle, slot)
    while (work.slots[work.next] !== undefined) work.next++
  }
  if (slot.ticket !== ticket) {
    slot.ticket = ticket
    if (name.purpose === 'call') {
      slot.args ??= ticket.args ?? {}
      slot.calls = name.attempt
    } else slot.checks = name.attempt
  }
  if (ticket.state === 'held') return
  removeSlot(work.idle, slot)
  work.flying++
}

/** Notes how a call ended. An unknown outcome leaves it in flight. `before` is where it stood. */
export function noteSettled(
  call: CompiledCall,
  work: CallWork,
  name: CallName,
  ticket: Ticket,
  before: 'held' | 'made',
): void {
  const slot = work.slots[name.item ?? 0]
  if (slot === undefined || slot.ticket !== ticket || isOpen(ticket)) return
  slot.ticket = null
  if (before === 'made') {
    work.flying--
    insertSlot(work.idle, slot)
  }
  slot.dueAt = ticket.settledAt!
  slot.approved = null
  if (ticket.state !== 'succeeded') {
    if (ticket.approval?.state === 'granted') slot.approved = ticket
    if (ticket.approval?.state === 'denied' || ticket.approval?.state === 'expired') {
      fail(work, slot, call, `${ticket.tool} was not approved: ${ticket.error ?? 'nobody did'}`)
      return
    }
    if (ticket.state === 'failed') noteFailure(call, work, slot, name, ticket)
    return
  }
  if (name.purpose === 'call') {
    slot.made = ticket
    slot.stage = 'verify'
    if (call.verify !== null && ticket.shown !== true) return
  } else if (ticket.confirms !== true) {
    noteFailure(call, work, slot, name, ticket)
    return
  }
  removeSlot(work.idle, slot)
  work.finished++
}

/** Notes that a call was refused for good. */
export function noteRefused(work: CallWork, message: string): void {
  work.failure ??= message
}

/** Whether a call may still become due: of a slot that waits, or of an item that has not begun. */
export function mayBeDue(call: CompiledCall, work: CallWork): boolean {
  if (work.failure !== null) return false
  return work.idle.length > 0 || (roomFor(call, work) > 0 && work.next < countKnown(call, work))
}

/** How many items may begin beside those that have. */
export function roomFor(call: CompiledCall, work: CallWork): number {
  const most = call.foreach === null ? 1 : call.concurrency
  return most - work.idle.length - work.flying
}

/** How long is waited after so many failures. */
export function delayAfter({ delayMs, backoff, maxDelayMs }: Retry, failures: number): number {
  return Math.min(delayMs * backoff ** (failures - 1), maxDelayMs)
}

function countKnown(call: CompiledCall, work: CallWork): number {
  return call.foreach === null ? 1 : (work.items?.length ?? Infinity)
}

function noteFailure(
  call: CompiledCall,
  work: CallWork,
  slot: CallSlot,
  { purpose }: CallName,
  ticket: Ticket,
): void {
  const made = purpose === 'call'
  const retry = made ? call.retry : call.verify!.retry
  const times = made ? ++slot.failures : ++slot.misses
  if (times < retry.attempts) {
    slot.dueAt = ticket.settledAt! + delayAfter(retry, times)
    return
  }
  const often = times === 1 ? '' : ` after ${times} attempts`
  if (ticket.state === 'failed') {
    fail(work, slot, call, `${ticket.tool} failed${often}: ${ticket.error ?? 'it does not say why'}`)
  } else {
    const why = ticket.error === null ? '' : ` (${ticket.error})`
    fail(work, slot, call, `the check did not hold${often}: ${call.verify!.expect.source}${why}`)
  }
}

function fail(work: CallWork, slot: CallSlot, call: CompiledCall, message: string): void {
  removeSlot(work.idle, slot)
  work.failure ??= call.foreach === null ? message : `item ${slot.item}: ${message}`
}

function createSlot(item: number): CallSlot {
  return {
    item,
    args: null,
    stage: 'call',
    calls: 0,
    checks: 0,
    failures: 0,
    misses: 0,
    ticket: null,
    made: null,
    dueAt: 0,
    approved: null,
  }
}

function insertSlot(list: CallSlot[], slot: CallSlot): void {
  let at = list.length
  while (at > 0 && list[at - 1]!.item > slot.item) at--
  if (at === list.length) list.push(slot)
  else list.splice(at, 0, slot)
}

function removeSlot(list: CallSlot[], slot: CallSlot): void {
  const at = list.indexOf(slot)
  if (at !== -1) list.splice(at, 1)
}
