import { Interruption } from '../app.ts'
import { exitCode } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * A signal that Ctrl-C aborts, and being asked to end, and the terminal going away. The first of them puts the run down; the second ends the
 * program at once, also while what it started is being ended.
 */
export function listenForInterrupt(terminal: Terminal): AbortSignal {
  const controller = new AbortController()
  for (const name of signals) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCode.failed)
      const how = name === 'SIGINT' ? '; press Ctrl-C again to leave at once' : ''
      terminal.err(`\nStopping${how}.\n`)
      controller.abort(new Interruption())
    })
  }
  return controller.signal
}
