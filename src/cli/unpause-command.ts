import type { Command } from './command.ts'
import { giveOrder } from './give-order.ts'

const help = `Usage: lockstep unpause RUN [--reason TEXT]

Lets a run go on that somebody paused. One that no engine has in hand goes on when it is taken up: lockstep resume RUN.

Exit codes: 0 done, 1 it changed nothing or cannot be done, 2 wrong usage.

Examples:
  lockstep unpause r_2b1f
`

/** `lockstep unpause`: lets a paused run go on. */
export const unpauseCommand: Command = {
  help,
  run: (args, terminal) => giveOrder('unpause', args, terminal),
}
