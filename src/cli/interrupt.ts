import { Interruption } from '../app.ts'
import { exitCode } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A signal that is aborted when somebody wants the work to stop. */
export interface Interrupt {
  readonly signal: AbortSignal
  /** Leaves the signals of the process to others again. */
  stop(): void
}

/** Listens for Ctrl-C, for being asked to end, and for the terminal going away. The first puts the run down; the second ends the program. */
export function listenForInterrupt(terminal: Terminal): Interrupt {
  const controller = new AbortController()
  const interrupt = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(exitCode.failed)
    const how = signal === 'SIGINT' ? '; press Ctrl-C again to leave at once' : ''
    terminal.err(`\nStopping${how}.\n`)
    controller.abort(new Interruption())
  }
  for (const signal of signals) process.on(signal, interrupt)
  return {
    signal: controller.signal,
    stop() {
      for (const signal of signals) process.off(signal, interrupt)
    },
  }
}
