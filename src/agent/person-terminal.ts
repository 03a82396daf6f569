import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { escapeControl } from '../shared/escape-control.ts'

/** Where a person is asked. */
export interface PersonStreams {
  readonly input: Readable
  readonly output: Writable
}

/** A person at a terminal: the next line they type, and where they read. */
export interface PersonTerminal {
  /** The next line; null at the end of the input. Rejects with the signal's reason, and the line they then type is the next one. */
  readLine(signal?: AbortSignal): Promise<string | null>
  /** Shows a text; what could speak to the terminal is written out. */
  write(text: string): void
}

/** Opens the one reader of an input: all who ask the same person share it, so that no line is lost between them. */
export function openPersonTerminal({ input, output }: PersonStreams): PersonTerminal {
  let lines: AsyncIterator<string> | null = null
  let waiting: Promise<string | null> | null = null
  const next = async () => {
    lines ??= createInterface({ input })[Symbol.asyncIterator]()
    const { value, done } = await lines.next()
    waiting = null
    return done === true ? null : (value as string)
  }
  return {
    readLine: (signal) => unlessAborted((waiting ??= next()), signal),
    write: (text) => void output.write(visible(text)),
  }
}

/** A text as it may reach a terminal: what a tool or somebody else said must not speak to it. */
function visible(text: string): string {
  return text.split('\n').map(escapeControl).join('\n')
}

/** A person may never answer, and a cancelled run does not wait for them. */
function unlessAborted<Value>(waiting: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return waiting
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    waiting.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
