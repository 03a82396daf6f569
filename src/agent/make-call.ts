import { messageOf } from '../shared/message-of.ts'
import type { CallOutcome, CallToRun } from '../tool/run-call.ts'
import { askApproval, askApprovalAbove } from './ask-approval.ts'
import type { HookedCall } from './hook.ts'
import { admitAbove, insideCall } from './lineage.ts'
import type { RunSetup } from './run-setup.ts'

/**
 * Makes a call after its hooks have run: whoever approves is asked, here and above, the runs above admit it, and the gate has the last word. Every
 * call of a run goes through here, a model's and a program's own.
 */
export async function makeCall(
  setup: RunSetup,
  hooked: HookedCall,
  left: { readonly arguments: unknown; readonly veto: string | null },
  how: Pick<CallToRun, 'due' | 'timeoutSeconds' | 'onSettled'> = {},
): Promise<{ readonly args: unknown; readonly outcome: CallOutcome }> {
  const { enforcer, signal, trouble, ancestors } = setup
  const { callId, tool } = hooked
  const args = left.arguments
  const call = { ...hooked, arguments: args }
  const own =
    trouble.reason ?? left.veto ?? (await askApproval(setup, call)) ?? (await askApprovalAbove(setup, call))
  // Nothing is judged any more, so that a run which is put down finds the call as it was.
  if (own !== null && hooked.signal.aborted) {
    const error = 'it was cancelled before it began'
    return { args, outcome: { tool, enforcement: null, status: 'not_executed', error } }
  }
  const above =
    own === null
      ? await admitAbove(ancestors, { callId, tool, arguments: args }, enforcer.gate.tools)
      : { refusal: own, settle: () => undefined }
  const veto = above.refusal === null ? {} : { veto: above.refusal }
  const options = { callId, signal, ...veto, ...how }
  try {
    const outcome = await insideCall(setup, callId, () => enforcer.call(tool, args, undefined, options))
    above.settle(outcome)
    return { args, outcome }
  } catch (error) {
    above.settle({ tool, enforcement: null, status: 'unknown', error: messageOf(error) })
    throw error
  }
}
