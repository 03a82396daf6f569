import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { LockstepError } from '../shared/lockstep-error.ts'
import { mostBytes } from '../source/secret-store.ts'

/** Where a value comes from: a terminal, where a person types, or a pipe. */
export type ValueInput = Readable & { readonly isTTY?: boolean }

/**
 * The value of a secret, without the last line break: typed at a terminal without being shown, else everything that comes through the pipe.
 * Throws `invalid_value` if there is none.
 */
export async function readSecretValue(
  name: string,
  input: ValueInput,
  say: (text: string) => void,
): Promise<string> {
  if (input.isTTY !== true) return await readPipe(input)
  try {
    return await readHidden(input, () => say(`Value of ${name} (not shown): `))
  } finally {
    // The line break that was typed is not shown either.
    say('\n')
  }
}

async function readPipe(input: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk as Buffer))
    size += chunks.at(-1)!.length
    // What is far too long is not gathered first; the rest may be a line break.
    if (size > mostBytes + 2) throw none(`more than ${mostBytes} bytes came on standard input`)
  }
  const text = decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  if (text === '') throw none('nothing came on standard input')
  return text
}

/** The terminal's own line editing, with nothing written: so Backspace and paste work as people know them. */
async function readHidden(input: Readable, ask: () => void): Promise<string> {
  const nowhere = new Writable({ write: (_, _encoding, done) => done() })
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', (line) => (line === '' ? reject(none('nothing was typed')) : resolve(line)))
      lines.once('SIGINT', () => reject(none('it was given up')))
      lines.once('close', () => reject(none('nothing was typed')))
      // Only now: the terminal itself would show what is typed before the lines are read here.
      ask()
    })
  } finally {
    lines.close()
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw none('what came on standard input is not UTF-8 text')
  }
}

function none(why: string): LockstepError {
  return new LockstepError('invalid_value', `No secret was set: ${why}.`)
}
