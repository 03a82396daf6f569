import type { CallTemplate } from '../playbook/compile-call.ts'
import type { PlacedSecret } from '../playbook/secret-reference.ts'
import { readCallId } from './call-id.ts'
import type { RunState } from './state.ts'
import type { Ticket } from './ticket.ts'

const none: readonly PlacedSecret[] = []

/**
 * Where in the arguments of an admitted call secrets belong, as the template says that made them. Everybody else's calls have no such place, whatever
 * their arguments look like (G19).
 */
export function secretPlaces(state: RunState, callId: string): readonly PlacedSecret[] {
  const ticket = state.byCallId.get(callId)
  return (ticket === undefined ? null : templateOf(state, ticket))?.input.secrets ?? none
}

/** The template that the arguments of a call were made from; null where somebody else made them. */
function templateOf(state: RunState, ticket: Ticket): CallTemplate | null {
  const { undoes } = ticket
  const made = undoes === undefined ? ticket : state.byCallId.get(undoes)
  const name = made === undefined || made.step === null ? null : readCallId(state.compiled, made.callId)
  if (name === null) return null
  const call = state.compiled.steps[name.step]!.call!
  if (undoes !== undefined) return name.purpose === 'call' ? call.compensate : null
  return name.purpose === 'verify' ? call.verify : call
}
