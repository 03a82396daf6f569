import type { CompiledStep } from '../playbook/compile-playbook.ts'
import type { Activation } from './activation.ts'
import { roomFor } from './call-work.ts'
import type { RunEvent } from './event.ts'
import { isAvailable } from './order.ts'
import { argumentsOf, CallProblem, checkArguments, itemsOf } from './resolve-call.ts'
import { missingValidation } from './satisfaction.ts'
import type { RunState } from './state.ts'

/** What follows for a call step from how its calls stand: it is complete, or has failed, or nothing yet. */
export function weighCalls(
  state: RunState,
  step: CompiledStep,
  activation: Activation,
  at: number,
): RunEvent | null {
  const { work, phase } = activation
  if (phase !== 'open' || work === null) return null
  if (work.failure === null && !isAvailable(state, step)) return null
  const problem = work.failure ?? problemOf(state, step, activation)
  if (problem !== null) {
    // What waits for people is not made any more; what is in flight is waited for.
    for (const { ticket } of work.idle) {
      if (ticket === null) continue
      const { callId } = ticket
      return { type: 'tool.settled', at, callId, outcome: 'not_executed', error: 'its step has failed' }
    }
    return activation.open > 0 ? null : failed(step, problem, at)
  }
  const items = itemsOf(state, step, activation)
  if (items instanceof CallProblem || work.finished < items.length) return null
  const lacking = missingValidation(state, step, activation)
  if (lacking.length > 0) return failed(step, lacking.join('; '), at)
  return { type: 'step.completed', at, by: 'evidence', outOfOrder: false, result: null, step: step.id }
}

/** What of the next calls cannot be worked out, in words; null if all of it can. */
function problemOf(state: RunState, step: CompiledStep, activation: Activation): string | null {
  const work = activation.work!
  const items = itemsOf(state, step, activation)
  if (items instanceof CallProblem) return items.message
  for (const slot of work.idle) {
    if (slot.stage !== 'verify' || slot.ticket !== null) continue
    const args = checkArguments(state, step, slot, items[slot.item])
    if (args instanceof CallProblem) return args.message
  }
  // Before anything is done, all that would begin is worked out; later the next one, because each outcome is a reason to look.
  let room = Math.min(roomFor(step.call!, work), work.slots.length === 0 ? Infinity : 1)
  for (let item = work.next; room > 0 && item < items.length; item++) {
    if (work.slots[item] !== undefined) continue
    const args = argumentsOf(state, step, activation, item, items[item])
    if (args instanceof CallProblem) return args.message
    room--
  }
  return null
}

function failed(step: CompiledStep, error: string, at: number): RunEvent {
  return { type: 'step.failed', at, step: step.id, by: 'runtime', error, limit: null }
}
