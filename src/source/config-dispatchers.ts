import type { Config } from './config.ts'
import { isOpenCommand } from './open-command.ts'

/** The names of the tools whose arguments choose the program that is run, or the code it runs: such a tool can do anything. */
export function dispatchersOf(config: Config): readonly string[] {
  return config.exec
    .filter(
      ({ command, stdin, reconcile }) =>
        isOpenCommand(command, stdin) || (reconcile !== null && isOpenCommand(reconcile.command, undefined)),
    )
    .map(({ name }) => name)
}
