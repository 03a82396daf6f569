import { exitCode } from './exit-code.ts'

/** Where a command writes, and whether a person is looking. */
export type Terminal = {
  out(text: string): void
  err(text: string): void
  /** Whether colours may be used: a terminal is attached and NO_COLOR is not set. */
  readonly colour: boolean
}

/** The terminal of this process. A reader that goes away (`lockstep check . | head`) ends the output quietly. */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return
      // A full disk, say. A run that nobody sees does not go on; its record is there to take it up.
      if (stream === process.stdout)
        process.stderr.write(`lockstep: the output cannot be written: ${error.message}\n`)
      process.exit(exitCode.failed)
    })
  }
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    colour: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb',
  }
}
