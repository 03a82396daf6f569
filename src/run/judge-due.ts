import { sameJson } from '../shared/same-json.ts'
import { readCallId } from './call-id.ts'
import type { DenialCode } from './denial-code.ts'
import { type DueCall, findDue } from './due-calls.ts'
import type { Owner } from './find-owner.ts'
import type { Facts, RunRequest } from './request.ts'
import type { RunState } from './state.ts'
import type { Ticket } from './ticket.ts'

type CallRequest = Pick<Extract<RunRequest, { type: 'call' }>, 'callId' | 'tool' | 'args'>

/** A call that the runtime makes: the request is exactly the due one, or another than is due under its id. Null for everybody else's calls. */
export type OwnCall = DueCall | 'another' | 'not_due' | null

/**
 * Whether a request is about a call that the runtime makes, by its id: the call that is due, if the request is that one to the letter, its id, its tool and
 * its arguments.
 */
export function findOwnCall(state: RunState, { callId, tool, args }: CallRequest, at: number): OwnCall {
  if (callId === null || (!state.shape.hasCalls && state.compensation === null)) return null
  const due = findDue(state, callId, at)
  if (due === null || due === 'not_due') return due
  return due.tool === tool && sameJson(due.args, args ?? {}) ? due : 'another'
}

/** Whether a request is the due call. */
export function isDue(own: OwnCall): own is DueCall {
  return typeof own === 'object' && own !== null
}

/** The step that a due call belongs to. */
export function ownerOfDue(state: RunState, { step }: DueCall): Owner {
  const index = step === null ? undefined : state.compiled.positions.get(step)
  return { step: index === undefined ? null : state.compiled.steps[index]!, extra: false, passes: [] }
}

/** Why a call of the runtime may not be made; null if nothing of this kind speaks against it. */
export function whyNotDue(
  own: Exclude<OwnCall, null>,
  facts: Facts,
): { readonly code: DenialCode; readonly detail: string } | null {
  if (own === 'not_due')
    return { code: 'out_of_sequence', detail: 'the runtime makes this call when its turn has come' }
  if (own === 'another')
    return { code: 'out_of_sequence', detail: 'the call that is due under this id is another one' }
  if (own.purpose === 'verify' && facts.risk !== 'read')
    return { code: 'rule', detail: 'a check may only read, and the tool can do more' }
  return null
}

/** Refusals that say nothing of the call itself: it is due again when what stood in its way is gone. */
const passing: ReadonlySet<DenialCode> = new Set<DenialCode>([
  'awaiting_approval',
  'outcome_unknown',
  'run_paused',
  'run_cancelled',
  'run_ended',
  'step_failed',
  'timeout',
  'duplicate_call',
])

/** Whether a refusal ends the call: what is refused is not tried again. */
export function isFinal(own: OwnCall, code: DenialCode): boolean {
  return isDue(own) && !passing.has(code)
}

/** The earlier attempt whose approval covers this one: nothing came of it, and it is the same call, in time (G15). */
export function findGrant(state: RunState, own: OwnCall, at: number): Ticket | null {
  if (!isDue(own)) return null
  const approved = own.purpose === 'undo' ? state.compensation!.approved : slotOf(state, own)?.approved
  if (approved == null || approved.tool !== own.tool || at >= approved.approval!.expiresAt) return null
  return sameJson(approved.args ?? {}, own.args) ? approved : null
}

function slotOf(state: RunState, { callId }: DueCall) {
  const name = readCallId(state.compiled, callId)
  return name === null ? undefined : state.activations[name.step]?.work?.slots[name.item ?? 0]
}
