import type { Activation } from './activation.ts'
import { type CallPurpose, readCallId } from './call-id.ts'
import { createCallWork, mayBeDue, noteAdmitted, noteRefused, noteSettled } from './call-work.ts'
import { insertSorted, removeFrom } from './order.ts'
import { areUnknown, CallProblem, itemsOf } from './resolve-call.ts'
import type { RunState } from './state.ts'
import type { Ticket } from './ticket.ts'

/** A call step has opened: its call may be due. */
export function beginCalls(state: RunState, activation: Activation): void {
  activation.work ??= createCallWork()
  updateCallable(state, activation)
}

/** A call of a call step was let through, or is held; nothing for any other call. */
export function admitCall(state: RunState, activation: Activation, ticket: Ticket): void {
  const { work } = activation
  const name = work === null ? null : readCallId(state.compiled, ticket.callId)
  if (work === null || name === null) return
  fixItems(state, activation)
  noteAdmitted(work, name, ticket)
  updateCallable(state, activation)
}

/** How a call of a call step ended; what it was for, null for any other call. */
export function settleCall(
  state: RunState,
  activation: Activation,
  ticket: Ticket,
  before: 'held' | 'made',
): CallPurpose | null {
  const { work, step } = activation
  const name = work === null ? null : readCallId(state.compiled, ticket.callId)
  if (work === null || name === null) return null
  noteSettled(state.compiled.steps[step]!.call!, work, name, ticket, before)
  updateCallable(state, activation)
  return name.purpose
}

/** A due call was refused for good; the step that it belongs to, or null. */
export function refuseCall(state: RunState, callId: string, message: string): Activation | null {
  const name = readCallId(state.compiled, callId)
  const activation = name === null ? undefined : state.activations[name.step]
  if (activation?.work == null) return null
  noteRefused(activation.work, message)
  updateCallable(state, activation)
  return activation
}

/** Keeps the list of steps of which a call may be due. */
export function updateCallable(state: RunState, activation: Activation): void {
  const { work, step, phase } = activation
  const may = phase === 'open' && work !== null && mayBeDue(state.compiled.steps[step]!.call!, work)
  if (may) insertSorted(state.callable, step)
  else removeFrom(state.callable, step)
}

/** The items are those that the first call was made of, whatever they would be later. */
function fixItems(state: RunState, activation: Activation): void {
  const work = activation.work!
  const step = state.compiled.steps[activation.step]!
  if (step.call!.foreach === null || work.items !== null || work.unknownItems) return
  const items = itemsOf(state, step, activation)
  if (items instanceof CallProblem) return
  if (areUnknown(items)) work.unknownItems = true
  else work.items = items as NonNullable<typeof work.items>
}
