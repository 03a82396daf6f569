import { ExpressionError } from '../expression/expression-error.ts'
import type { Json } from '../shared/json.ts'
import { readCallId } from './call-id.ts'
import { CallProblem, itemValue, undoArguments, valuesAfter } from './resolve-call.ts'
import type { RunRequest } from './request.ts'
import type { RunState } from './state.ts'
import type { Ticket, Undo } from './ticket.ts'

/** What the success of a call settles besides: whether a check holds, and what undoes the call (G17). */
export interface AfterSuccess {
  readonly confirms?: boolean
  readonly undo?: Undo
  readonly error?: string
}

const nothing: AfterSuccess = {}

/** Works out what is recorded with the success of a call. */
export function afterSuccess(
  state: RunState,
  ticket: Ticket,
  request: Extract<RunRequest, { type: 'settle' }>,
): AfterSuccess {
  if (!state.shape.hasCalls && !state.shape.compensates) return nothing
  if (ticket.undoes !== undefined || request.shown === true) return nothing
  const name = ticket.step === null ? null : readCallId(state.compiled, ticket.callId)
  const activation = name === null ? undefined : state.activations[name.step]
  const work = activation?.visit === name?.visit ? (activation?.work ?? null) : null
  if (name === null) return ownUndo(state, request.undo)
  if (work === null) {
    // What undoes it is known by its template to hold secrets, so that nothing else may stand in its place.
    const { compensate } = state.compiled.steps[name.step]!.call!
    if (name.purpose === 'verify' || !compensate?.input.secrets.length) return ownUndo(state, request.undo)
    return ownUndo(state, {
      error: 'its step was begun anew before it ended, and what undoes it takes a secret',
    })
  }
  const step = state.compiled.steps[name.step]!
  const item = name.item ?? 0
  const value = itemValue(work, item)
  const result = request.result ?? null
  if (name.purpose === 'verify') {
    const output = work.slots[item]?.made?.result ?? null
    const values = [...valuesAfter(state, step.call!, item, value, output), result]
    const holds = step.call!.verify!.expect.evaluate(values, state.past)
    return holds instanceof ExpressionError
      ? { confirms: false, error: holds.message }
      : { confirms: holds === true }
  }
  if (!state.shape.compensates) return nothing
  const { compensate } = step.call!
  if (compensate === null) return ownUndo(state, request.undo)
  const args = undoArguments(state, step, item, value, result as Json)
  return {
    undo: args instanceof CallProblem ? { error: args.message } : { tool: compensate.tool, args },
  }
}

/** What the tool itself says undoes the call. */
function ownUndo(state: RunState, undo: Undo | undefined): AfterSuccess {
  return undo === undefined || !state.shape.compensates ? nothing : { undo }
}
