import { Interruption } from '../app.ts'
import { exitCode } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Who wants the work to stop is heard here. */
export interface Interrupt {
  readonly signal: AbortSignal
  /** Says that there is a run from now on, which has to be put down properly. */
  begin(): void
}

/**
 * Listens for Ctrl-C, for being asked to end, and for the terminal going away. Before the run is begun any of them ends the program.
 * After that the first puts the run down, and the second ends the program at once, also while what it started is being ended.
 */
export function listenForInterrupt(terminal: Terminal): Interrupt {
  const controller = new AbortController()
  let begun = false
  for (const name of signals) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCode.failed)
      if (!begun) {
        terminal.err('\nStopped before the run was begun.\n')
        process.exit(exitCode.failed)
      }
      const how = name === 'SIGINT' ? '; press Ctrl-C again to leave at once' : ''
      terminal.err(`\nStopping${how}.\n`)
      controller.abort(new Interruption())
    })
  }
  return { signal: controller.signal, begin: () => void (begun = true) }
}
