import type { Json, JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { shortText } from '../shared/short-text.ts'
import { toJson } from '../shared/to-json.ts'
import { riskOf } from '../tool/run-call.ts'
import { countsFor } from '../tool/shared-counts.ts'
import type { ToolRegistry } from '../tool/tool-registry.ts'
import type { HookedCall } from './hook.ts'
import { callsAbove } from './lineage.ts'
import { untilAborted, WaitAborted } from './until-aborted.ts'
import { writeFact, type RunSetup } from './run-setup.ts'

/** A call that somebody has to say yes to, with the arguments it would be made with. */
export interface ApprovalRequest extends Omit<HookedCall, 'arguments'> {
  readonly arguments: JsonObject
}

/** What somebody says of a call; anything but a yes is a no. */
export type ApprovalAnswer = boolean | { readonly approved: boolean; readonly reason?: string }

/**
 * Puts a call of an irreversible tool to whoever approves, if the gate would let it through: nobody is asked about a call that
 * is refused anyway. Null if it may go on, else why not. A yes decides nothing more: the gate judges the call again. `tools` are those
 * the call is one of, where a run below this one makes it.
 */
export async function askApproval(
  setup: RunSetup,
  call: HookedCall,
  tools: ToolRegistry | null = setup.enforcer.gate.tools,
): Promise<string | null> {
  const { onApproval, enforcer } = setup
  const { tool, callId, signal } = call
  if (onApproval === null || riskOf({ tool }, tools) !== 'irreversible') return null
  const asked = { tool, callId, arguments: call.arguments }
  const counts = await countsFor(enforcer.gate, asked, tools)
  if (!enforcer.gate.wouldAllow(asked, tools, counts)) return null
  // A copy that cannot be changed: what is approved is what is made.
  const args = (toJson(call.arguments) as { readonly value: Json }).value as JsonObject
  const answer = await answerOf(onApproval, { ...call, arguments: args })
  if (answer === null) return 'the run was cancelled'
  const { approved, reason } = answer
  await writeFact(setup, { type: 'approval.decided', at: Date.now(), callId, tool, approved, reason })
  if (approved && !signal.aborted) return null
  return signal.aborted
    ? 'the run was cancelled'
    : `it was not approved${reason === null ? '' : `: ${reason}`}`
}

/** Puts a call to whoever approves for the runs above as well (G18): what a child does, they do. Null if it may go on, else why not. */
export async function askApprovalAbove(setup: RunSetup, call: HookedCall): Promise<string | null> {
  const { tools } = setup.enforcer.gate
  for (const { setup: above, callId } of callsAbove(setup.ancestors, call.callId)) {
    const { record, enforcer } = above
    const signal = AbortSignal.any([call.signal, above.signal])
    const put = { ...call, run: record.run, callId, step: enforcer.currentStep, signal }
    const refused = await askApproval(above, put, tools)
    if (refused !== null) return `the run above (${record.run}) refuses it: ${refused}`
  }
  return null
}

/** What was answered; null if nobody waits for it any more. */
async function answerOf(
  onApproval: NonNullable<RunSetup['onApproval']>,
  request: ApprovalRequest,
): Promise<{ readonly approved: boolean; readonly reason: string | null } | null> {
  try {
    const answer = await untilAborted(request.signal, () => onApproval(request))
    if (typeof answer === 'object' && answer !== null) {
      return {
        approved: answer.approved === true,
        reason: answer.reason === undefined ? null : shortText(String(answer.reason)),
      }
    }
    return { approved: answer === true, reason: null }
  } catch (error) {
    if (error instanceof WaitAborted) return null
    return { approved: false, reason: shortText(`asking failed: ${messageOf(error)}`) }
  }
}
