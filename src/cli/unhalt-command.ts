import type { Command } from './command.ts'
import { setHalt } from './set-halt.ts'

const help = `Usage: lockstep unhalt --reason TEXT

Lets all runs go on that lockstep halt has stopped.

Exit codes: 0 done, 1 it changed nothing, 2 wrong usage.

Examples:
  lockstep unhalt --reason 'the region is right again'
`

/** `lockstep unhalt`: lets all runs go on. */
export const unhaltCommand: Command = {
  help,
  run: (args, terminal) => setHalt('unhalt', args, terminal),
}
