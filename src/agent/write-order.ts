import { LockstepError } from '../shared/lockstep-error.ts'
import { Agent } from './agent.ts'
import type { RunOrder } from './run-control.ts'
import { standIns, type VoteSetup } from './write-vote.ts'

/**
 * Writes into the record of a run that nobody is at work on that it is to be cancelled, paused, or to go on; false if that changes nothing. No tool is bound: what
 * follows, such as undoing what was done, follows when the run is taken up. Throws `not_available` for
 * what became of a call, and what `Agent.order` throws.
 */
export async function writeOrder(
  { playbook, journal, principal }: Omit<VoteSetup, 'requesters'>,
  run: string,
  order: RunOrder,
): Promise<boolean> {
  // What undoes a call that succeeded, only its tool can say.
  if (order.type === 'settle')
    throw new LockstepError('not_available', `Run ${run} is worked on elsewhere, and its tools are there.`, {
      hint: `Say there what became of the call: lockstep resume ${run} --settle ${order.callId}=${order.outcome}`,
    })
  const agent = new Agent({ model: 'none', tools: standIns(playbook), playbook, journal, principal })
  return await agent.order(run, order)
}
