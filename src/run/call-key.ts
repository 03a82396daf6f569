import { canonicalJson } from '../shared/canonical-json.ts'
import { readCallId, withoutAttempt } from './call-id.ts'
import type { RunState } from './state.ts'
import type { Ticket } from './ticket.ts'

/** The key of a call within its run: every attempt of the runtime at one call, or at undoing it, has the same, so that a service applies it once. */
export function callKey(state: RunState, callId: string): string {
  if (state.program !== null) return programKey(state, callId)
  if (!state.shape.hasCalls && state.compensation === null) return callId
  const own = readCallId(state.compiled, callId) !== null || state.byCallId.get(callId)?.undoes !== undefined
  return own ? withoutAttempt(callId) : callId
}

const programForm = /^step-\d+$/

/**
 * A program numbers its calls. One that was not carried out is made anew under the next number and keeps its key: its first request may still be on its way
 * when somebody asks what became of it.
 */
function programKey(state: RunState, callId: string): string {
  let key = callId
  let later = state.byCallId.get(callId)
  if (later === undefined || !programForm.test(callId)) return key
  for (let at = state.tickets.lastIndexOf(later) - 1; at >= 0; at--) {
    const earlier = state.tickets[at]!
    if (!programForm.test(earlier.callId)) continue
    if (earlier.state !== 'not_executed' || !isSameCall(earlier, later)) return key
    key = earlier.callId
    later = earlier
  }
  return key
}

function isSameCall(one: Ticket, other: Ticket): boolean {
  if (one.tool !== other.tool || one.step !== other.step) return false
  return canonicalJson(one.args) === canonicalJson(other.args)
}
