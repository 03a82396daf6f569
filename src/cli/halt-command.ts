import type { Command } from './command.ts'
import { setHalt } from './set-halt.ts'

const help = `Usage: lockstep halt --reason TEXT

Stops every run before its next effect, whichever process works on it, until lockstep unhalt lets them go on. What is in flight is waited for. It holds over
restarts, and who halted what when and why is part of the record.

Exit codes: 0 done, 1 it changed nothing, 2 wrong usage.

Examples:
  lockstep halt --reason 'wrong region'
`

/** `lockstep halt`: stops every run before its next effect. */
export const haltCommand: Command = {
  help,
  run: (args, terminal) => setHalt('halt', args, terminal),
}
