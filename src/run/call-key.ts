import { readCallId, withoutAttempt } from './call-id.ts'
import type { RunState } from './state.ts'

/** The key of a call within its run: every attempt of the runtime at one call, or at undoing it, has the same, so that a service applies it once. */
export function callKey(state: RunState, callId: string): string {
  if (!state.shape.hasCalls && state.compensation === null) return callId
  const own = readCallId(state.compiled, callId) !== null || state.byCallId.get(callId)?.undoes !== undefined
  return own ? withoutAttempt(callId) : callId
}
