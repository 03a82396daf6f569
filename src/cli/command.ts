import type { ExitCode } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

/** What a command does and how it explains itself. */
export type Command = {
  /** The text of `lockstep help NAME`: usage, meaning, options, examples. */
  readonly help: string
  /** What is said in place of it for these arguments. */
  helpFor?(args: readonly string[], terminal: Terminal): Promise<string>
  run(args: readonly string[], terminal: Terminal): Promise<ExitCode>
}

/** A line of the table of commands; the code of a command is loaded when it is called. */
export type CommandEntry = {
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}
