import { castVote } from './cast-vote.ts'
import type { Command } from './command.ts'
import { readBallot } from './read-ballot.ts'

const help = `Usage: lockstep deny ID --reason TEXT [--as NAME]

Denies a call that waits, as lockstep approve approves one. One denial by somebody who may approve ends it; the call is not made, and the
reason is told to whoever asked.

Options:
  --reason TEXT   why; it is required
  --as NAME       under another name, which nobody checks: for demonstrations, and only where the policy says
                  identity: [local, asserted]

Exit codes: 0 denied, 1 it does not count or cannot be written, 2 wrong usage.

Examples:
  lockstep deny a_3f2b91c0 --reason 'the order was never delivered'
`

/** `lockstep deny`: a person says no to a call that waits. */
export const denyCommand: Command = {
  help,
  run: (args, terminal) => castVote(readBallot(args, 'deny'), terminal),
}
