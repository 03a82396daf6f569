import type { Command } from './command.ts'
import { giveOrder } from './give-order.ts'

const help = `Usage: lockstep pause RUN [--reason TEXT]

Stops a run before its next effect, until lockstep unpause lets it go on. What is in flight is waited for.

Exit codes: 0 done, 1 it changed nothing or cannot be done, 2 wrong usage.

Examples:
  lockstep pause r_2b1f --reason 'lunch'
`

/** `lockstep pause`: stops a run until somebody lets it go on. */
export const pauseCommand: Command = {
  help,
  run: (args, terminal) => giveOrder('pause', args, terminal),
}
