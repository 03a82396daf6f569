import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Ballot } from './cast-vote.ts'
import { type ExitCode, exitCode } from './exit-code.ts'
import type { HeldCall } from '../overview/held-call.ts'
import { localUser } from './local-user.ts'
import type { Terminal } from './terminal.ts'
import { VoteBox } from './vote-box.ts'

/**
 * Leaves what the user of this process says to a call of a gateway where the gateway finds it, whether or not it is running now. Throws `usage` for
 * a name that is not theirs: the system vouches for no other.
 */
export function leaveVote(
  { answer, reason, as }: Ballot,
  { id, tool, run, callId }: HeldCall,
  folder: string,
  terminal: Terminal,
): ExitCode {
  if (as !== null) {
    throw new LockstepError('usage', '--as does not go with the run of a gateway', {
      hint: 'approve it as the user you are',
    })
  }
  const box = new VoteBox(folder)
  box.put({ run, callId, answer, reason })
  const said = answer === 'approve' ? 'approval' : 'denial'
  terminal.out(
    escapeControl(
      `The ${said} of ${tool} (${id}) by ${localUser({}).id} lies in ${box.folder} for the gateway.`,
    ) +
      '\nThe gateway takes it when its client sends the same call again; then it is decided whether it counts, and the client is told.\n' +
      'Next: have the call sent again, then npx lockstep approvals\n',
  )
  return exitCode.done
}
