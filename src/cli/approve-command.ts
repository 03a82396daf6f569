import { castVote } from './cast-vote.ts'
import type { Command } from './command.ts'
import { readBallot } from './read-ballot.ts'

const help = `Usage: lockstep approve ID [--reason TEXT] [--as NAME]

Approves a call that waits: shows the call, the rule that asks for approval, who may give it and the run so far, and writes down that you, the
user of the operating system who runs this command, approve it. It counts if the policy lets you; what it comes to is told. The run goes on
with lockstep resume, and everything is judged again then. An approval is for exactly this call, and is used once.

Options:
  --reason TEXT   why, for the record
  --as NAME       under another name, which nobody checks: for demonstrations, and only where the policy says
                  identity: [local, asserted]

Exit codes: 0 approved, 1 it does not count or cannot be written, 2 wrong usage, 4 it counts and takes more people.

Examples:
  lockstep approve a_3f2b91c0
  lockstep approve a_3f --reason 'checked with the customer'
`

/** `lockstep approve`: a person says yes to a call that waits. */
export const approveCommand: Command = {
  help,
  run: (args, terminal) => castVote(readBallot(args, 'approve'), terminal),
}
