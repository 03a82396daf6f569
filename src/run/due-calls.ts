/**
 * What the runtime is to call now, and when it is to look again.
 *
 * Owns: which calls are due. They follow from the state and are never stored, so that a run that is taken up again finds the same.
 * Talks to: nothing; it only reads.
 *
 * Invariants
 * U1  A call is due once: while it is held, in flight or of unknown outcome, nothing of its slot is due but the call that people approved.
 * U2  The cost is that of what may be due, not of the steps, nor of what was called before.
 * U3  Nothing is due that the gate would refuse for the state it is in: ended, paused, failed, cancelled, another outcome of the tool unknown.
 */
import type { CompiledStep } from '../playbook/compile-playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Activation } from './activation.ts'
import { type CallPurpose, readCallId, withoutAttempt, writeCallId } from './call-id.ts'
import { type CallSlot, roomFor } from './call-work.ts'
import { nextUndo } from './compensation.ts'
import { isHeldBack } from './order.ts'
import { argumentsOf, CallProblem, checkArguments, type Items, itemsOf } from './resolve-call.ts'
import type { RunState } from './state.ts'
import { deadlineOf } from './step-clock.ts'
import type { Ticket } from './ticket.ts'

/** A call that the runtime is to make, to the letter. */
export interface DueCall {
  /** The step it belongs to; of a call that undoes, the step of the call that is undone. */
  readonly step: string | null
  readonly callId: string
  readonly tool: string
  readonly args: JsonObject
  /** The same for every attempt at this call. */
  readonly key: string
  readonly purpose: CallPurpose | 'undo'
  /** The call that it checks or undoes. */
  readonly of: string | null
}

/** What is due, and when to look again if nothing happens before: for the next attempt, or because a step's time is over. Null for never. */
export interface Due {
  readonly due: readonly DueCall[]
  readonly next: number | null
  /** When the first approval that is waited for can no longer be given; nothing but people moves the run before. */
  readonly expires: number | null
}

const nothing: Due = { due: [], next: null, expires: null }

/** What the runtime is to call now, in order, and when the run goes on by itself. */
export function dueCalls(state: RunState, now: number): Due {
  if (state.ended !== null) return nothing
  const at = Math.max(now, state.clock)
  const due: DueCall[] = []
  let next = nextDeadline(state)
  const expires = nextExpiry(state)
  const later = (time: number) => {
    if (time > at && (next === null || time < next)) next = time
  }
  if (state.suspension !== null) return { due, next, expires }
  if (state.compensation !== null) {
    const { dueAt } = state.compensation
    const undo = dueUndo(state, at)
    if (undo !== null) due.push(undo)
    else if (state.compensation.ticket === null) later(dueAt)
    return { due, next, expires }
  }
  if (isStopping(state) || state.paused > 0) return { due, next, expires }
  for (const index of state.callable) {
    const step = state.compiled.steps[index]!
    const activation = state.activations[index]!
    if (isHeldBack(state, index)) continue
    for (const { call, time } of candidates(state, step, activation)) {
      if (time > at) later(time)
      else if (call !== null && !isUncertain(state, call.tool)) due.push(call)
    }
  }
  return { due, next, expires }
}

/**
 * The due call that an id names: `not_due` if it names a call of the runtime that is not due now, null if it names none. At a cost that does not
 * depend on what else is due.
 */
export function findDue(state: RunState, callId: string, now: number): DueCall | 'not_due' | null {
  const at = Math.max(now, state.clock)
  if (state.compensation !== null) {
    const undo = dueUndo(state, at)
    if (undo?.callId === callId) return undo
  }
  const name = readCallId(state.compiled, callId)
  if (name === null) return null
  const step = state.compiled.steps[name.step]!
  const activation = state.activations[name.step]
  if (activation?.work == null || activation.phase !== 'open' || activation.visit !== name.visit)
    return 'not_due'
  if (isStopping(state) || isHeldBack(state, name.step) || activation.work.failure !== null) return 'not_due'
  if ((name.item === null) !== (step.call!.foreach === null)) return 'not_due'
  const items = itemsOf(state, step, activation)
  const item = name.item ?? 0
  if (items instanceof CallProblem || item >= items.length) return 'not_due'
  const slot = activation.work.slots[item]
  if (slot === undefined && !mayBegin(step, activation, item)) return 'not_due'
  const found = candidate(state, step, activation, items, item, slot)
  return found?.call?.callId === callId && found.time <= at ? found.call : 'not_due'
}

/** Whether nothing but undoing is to be done any more. */
export function isStopping(state: RunState): boolean {
  return state.cancellation !== null || state.failedRequired > 0
}

/** Whether the outcome of an earlier call of the tool is unknown: it is not called again before that is settled. */
export function isUncertain(state: RunState, tool: string): boolean {
  for (const ticket of state.unknown) if (ticket.tool === tool) return true
  return false
}

/** What a slot waits for: a call, not before a time; no call where its arguments cannot be worked out, or people have to speak first. */
interface Candidate {
  readonly call: DueCall | null
  readonly time: number
}

function* candidates(state: RunState, step: CompiledStep, activation: Activation): Generator<Candidate> {
  const work = activation.work!
  const items = itemsOf(state, step, activation)
  if (items instanceof CallProblem || work.failure !== null) return
  for (const slot of work.idle) {
    const found = candidate(state, step, activation, items, slot.item, slot)
    if (found !== null) yield found
  }
  let room = roomFor(step.call!, work)
  for (let item = work.next; room > 0 && item < items.length; item++) {
    if (work.slots[item] !== undefined) continue
    const found = candidate(state, step, activation, items, item, undefined)
    // An item that cannot be worked out fails the step: nothing behind it begins.
    if (found?.call == null) return
    yield found
    room--
  }
}

function candidate(
  state: RunState,
  step: CompiledStep,
  activation: Activation,
  items: Items,
  item: number,
  slot: CallSlot | undefined,
): Candidate | null {
  const call = step.call!
  const waiting = slot?.ticket ?? null
  if (waiting !== null && !isGranted(waiting)) return null
  const verifies = slot?.stage === 'verify'
  if (verifies && (call.verify === null || slot.made === null)) return null
  const time = waiting === null ? (slot?.dueAt ?? 0) : 0
  const args =
    waiting !== null
      ? (waiting.args ?? {})
      : verifies
        ? checkArguments(state, step, slot, items[item])
        : argumentsOf(state, step, activation, item, items[item])
  if (args instanceof CallProblem) return { call: null, time: 0 }
  const purpose: CallPurpose = verifies ? 'verify' : 'call'
  const attempt = 1 + (slot === undefined ? 0 : verifies ? slot.checks : slot.calls)
  const { visit } = activation
  const name = { visit, item: call.foreach === null ? null : item, purpose, attempt }
  const callId = waiting?.callId ?? writeCallId(step.id, name)
  return {
    time,
    call: {
      step: step.id,
      callId,
      tool: verifies ? call.verify!.tool : call.tool,
      args,
      key: withoutAttempt(callId),
      purpose,
      of: verifies ? slot.made!.callId : null,
    },
  }
}

/** Whether an item that has not begun is among those that may: the first of them, as many as there is room for. */
function mayBegin(step: CompiledStep, { work }: Activation, item: number): boolean {
  let room = roomFor(step.call!, work!)
  for (let each = work!.next; room > 0 && each <= item; each++) {
    if (work!.slots[each] !== undefined) continue
    if (each === item) return true
    room--
  }
  return false
}

function dueUndo(state: RunState, at: number): DueCall | null {
  const { dueAt, stopped, ticket } = state.compensation!
  const next = nextUndo(state)
  if (next === null || stopped !== null || 'error' in next.call) return null
  if (ticket === null ? at < dueAt : !isGranted(ticket)) return null
  const { of, callId, key } = next
  const { tool, args } = next.call
  if (isUncertain(state, tool)) return null
  const step = of.step === null ? null : state.compiled.steps[of.step]!.id
  return { step, callId, tool, args, key, purpose: 'undo', of: of.callId }
}

function isGranted(ticket: Ticket): boolean {
  return ticket.state === 'held' && ticket.approval!.state === 'granted'
}

/** When the time of a step is over. */
function nextDeadline(state: RunState): number | null {
  let next: number | null = null
  for (const activation of state.timed) {
    const time = deadlineOf(state, activation)
    if (time !== null && (next === null || time < next)) next = time
  }
  return next
}

function nextExpiry(state: RunState): number | null {
  let next: number | null = null
  for (const { approval } of state.held) {
    if (next === null || approval!.expiresAt < next) next = approval!.expiresAt
  }
  return next
}
