import { describeUndoing, nextUndo, undoable } from './compensation.ts'
import type { RunEvent } from './event.ts'
import type { RunState } from './state.ts'

const nothing: readonly RunEvent[] = []

/**
 * What follows at the end of a run that nobody has to finish: it succeeds when all its calls have, it fails or is cancelled when nothing is in flight
 * any more, and what was done is undone before, where the playbook says so (G17).
 */
export function advanceEnd(state: RunState, at: number): readonly RunEvent[] {
  if (state.compensation !== null) return advanceCompensation(state, at)
  const cause = causeOf(state)
  if (cause === null) return advanceSuccess(state, at)
  if (inFlight(state) > 0) return nothing
  for (const { callId } of state.held) {
    const error = cause === 'failed' ? 'a required step has failed' : 'the run was cancelled'
    return [{ type: 'tool.settled', at, callId, outcome: 'not_executed', error }]
  }
  const { onFailure, onCancel } = state.compiled.playbook
  const undoes = (cause === 'failed' ? onFailure : onCancel) === 'compensate'
  // What may have been done cannot be undone before somebody has found out. Who cancels without undoing does not wait for it.
  if (state.unknown.size > 0 && (undoes || cause === 'failed')) return nothing
  const reason = reasonOf(state, cause)
  if (undoes && undoable(state).length > 0) return [{ type: 'compensation.begun', at, cause, reason }]
  return [
    {
      type: 'run.finished',
      at,
      status: cause,
      message: undoes ? describeUndoing(state, reason, null) : reason,
    },
  ]
}

/** Why the run is to end, if it is. A step that failed ends it only where nobody could begin it anew, or what was done is to be undone. */
function causeOf(state: RunState): 'failed' | 'cancelled' | null {
  if (state.cancellation !== null) return 'cancelled'
  if (state.failedRequired === 0 || state.program !== null) return null
  if (state.shape.isRunbook) return 'failed'
  return state.enforced && state.compiled.playbook.onFailure === 'compensate' ? 'failed' : null
}

/** Where no model gives a final answer, the last completion ends the run. */
function advanceSuccess(state: RunState, at: number): readonly RunEvent[] {
  if (!state.shape.isRunbook || state.remaining > 0 || state.openTickets.size > 0) return nothing
  return [{ type: 'run.finished', at, message: null, status: 'succeeded' }]
}

function advanceCompensation(state: RunState, at: number): readonly RunEvent[] {
  const { cause, reason, ticket, stopped } = state.compensation!
  const next = nextUndo(state)
  const error = stopped ?? (next !== null && 'error' in next.call ? next.call.error : null)
  if (next !== null && error === null) return nothing
  if (ticket?.state === 'held') {
    const { callId } = ticket
    return [{ type: 'tool.settled', at, callId, outcome: 'not_executed', error: error ?? 'it is over' }]
  }
  if (state.openTickets.size > 0) return nothing
  return [{ type: 'run.finished', at, status: cause, message: describeUndoing(state, reason, error) }]
}

/** Calls that were made and of which nothing is known yet. A playbook that a program called ends with the program. */
function inFlight({ openTickets, held, unknown, program }: RunState): number {
  const called = program?.frames.filter(({ callId }) => callId !== null).length ?? 0
  return openTickets.size - held.size - unknown.size - called
}

function whatFailed(state: RunState): string {
  const failed = state.compiled.steps.flatMap(({ index, id, required }) => {
    const activation = state.activations[index]
    return required && activation?.status === 'failed' ? [`Step ${id}: ${activation.error}`] : []
  })
  return failed.join('; ')
}

function reasonOf(state: RunState, cause: 'failed' | 'cancelled'): string {
  if (cause === 'failed') return whatFailed(state)
  const { by, reason } = state.cancellation!
  const unknown = [...state.openTickets]
    .filter((ticket) => state.unknown.has(ticket))
    .map(({ callId }) => callId)
  const words = `Cancelled by ${by}${reason === null ? '' : `: ${reason}`}`
  return unknown.length === 0 ? words : `${words}. Nobody knows what became of ${unknown.join(', ')}`
}
