import type { Command } from './command.ts'
import { giveOrder } from './give-order.ts'

const help = `Usage: lockstep cancel RUN [--reason TEXT]

Stops a run for good: nothing more is begun, what is in flight is waited for. Where the runbook says on_cancel: compensate, what was done is
undone, the last first. A run at work is reached through its engine; for any other it is written into its record.

Exit codes: 0 done, 1 it changed nothing or cannot be done, 2 wrong usage.

Examples:
  lockstep cancel r_2b1f --reason 'wrong region'
`

/** `lockstep cancel`: stops a run for good. */
export const cancelCommand: Command = {
  help,
  run: (args, terminal) => giveOrder('cancel', args, terminal),
}
