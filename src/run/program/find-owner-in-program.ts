import type { DenialCode } from '../denial-code.ts'
import type { Owner } from '../find-owner.ts'
import type { Facts, RunRequest } from '../request.ts'
import type { RunState } from '../state.ts'
import { contextOf } from './context.ts'
import { isDueCall } from './program-state.ts'
import { triggersOn } from './trigger.ts'

/**
 * The bullet that a call belongs to. The program says which one is due: a call that it makes itself, exactly as it was worked out,
 * or a call of the model that works on a bullet, of a tool that the bullet may use. Anything else is out of order.
 */
export function findOwnerInProgram(
  state: RunState,
  request: Omit<Extract<RunRequest, { type: 'call' }>, 'type'>,
  risk: NonNullable<Facts['risk']> | null,
): Owner | DenialCode {
  const { pending } = state.program!
  const owner = (id: string): Owner | DenialCode => {
    const step = state.compiled.steps[state.compiled.positions.get(id)!]!
    return step.tools.has(request.tool) ? { step, extra: false, passes: [] } : 'unexpected_tool'
  }
  if (request.step !== undefined) return owner(request.step)
  if (pending?.kind === 'call') {
    return isDueCall(pending, request) ? owner(pending.step) : 'out_of_sequence'
  }
  if (pending?.kind !== 'act') return 'out_of_sequence'
  // A playbook that comes before the call cannot run in the middle of a model's work, so only a bullet of its own may make it.
  if (triggersOn(contextOf(state, state.clock), 'before', request.tool).length > 0) return 'out_of_sequence'
  const step = state.compiled.program!.steps.get(pending.step)
  const readsOnly = step !== undefined && 'kind' in step && step.kind === 'act' && step.reach === 'reads only'
  // What cannot be undone is never left to a model: only a bullet that names the call makes it.
  if (risk === 'irreversible' || (readsOnly && risk !== null && risk !== 'read')) return 'unexpected_tool'
  return owner(pending.step)
}
