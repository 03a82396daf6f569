import type { Json, JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { toJson } from '../shared/to-json.ts'
import { riskOf } from '../tool/run-call.ts'
import type { HookedCall } from './hook.ts'
import { writeFact, type RunSetup } from './run-setup.ts'

/** A call that somebody has to say yes to, with the arguments it would be made with. */
export interface ApprovalRequest extends Omit<HookedCall, 'arguments'> {
  readonly arguments: JsonObject
  readonly signal: AbortSignal
}

/** What somebody says of a call; anything but a yes is a no. */
export type ApprovalAnswer = boolean | { readonly approved: boolean; readonly reason?: string }

/**
 * Puts a call of an irreversible tool to whoever approves, if the gate would let it through: nobody is asked about a call that
 * is refused anyway. Null if it may go on, else why not. A yes decides nothing more: the gate judges the call again.
 */
export async function askApproval(setup: RunSetup, call: HookedCall): Promise<string | null> {
  const { onApproval, enforcer, signal } = setup
  const { gate } = enforcer
  const { tool, callId } = call
  if (onApproval === null || riskOf({ tool }, gate.tools) !== 'irreversible') return null
  if (!gate.wouldAllow({ tool, callId, arguments: call.arguments })) return null
  // A copy that cannot be changed: what is approved is what is made.
  const args = (toJson(call.arguments) as { readonly value: Json }).value as JsonObject
  const { approved, reason } = await answerOf(onApproval, { ...call, arguments: args, signal })
  await writeFact(setup, { type: 'approval.decided', at: Date.now(), callId, tool, approved, reason })
  if (approved && !signal.aborted) return null
  return signal.aborted
    ? 'the run was cancelled'
    : `it was not approved${reason === null ? '' : `: ${reason}`}`
}

async function answerOf(
  onApproval: NonNullable<RunSetup['onApproval']>,
  request: ApprovalRequest,
): Promise<{ readonly approved: boolean; readonly reason: string | null }> {
  try {
    const answer = await onApproval(request)
    if (typeof answer === 'object' && answer !== null) {
      return {
        approved: answer.approved === true,
        reason: answer.reason === undefined ? null : String(answer.reason),
      }
    }
    return { approved: answer === true, reason: null }
  } catch (error) {
    return { approved: false, reason: `asking failed: ${messageOf(error)}` }
  }
}
