import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** Where the engine of a data folder is found. */
export interface EngineAddress {
  /** The path of a socket, or the name of a pipe on Windows. */
  readonly socket: string
  /** Held by the engine as long as it lives. */
  readonly lock: string
  /** A file that only the owner of the data folder can read; who knows what it says is that user. */
  readonly token: string
}

/** The longest path a socket may have on every system. */
const longest = 100

/** The address of the engine of a data folder: the same for everybody who means that folder. */
export function engineAddress(home: string): EngineAddress {
  const files = { lock: join(home, 'engine.lock'), token: join(home, 'engine.token') }
  const name = createHash('sha256').update(home).digest('hex').slice(0, 24)
  if (process.platform === 'win32') return { ...files, socket: `\\\\.\\pipe\\lockstep-${name}` }
  const beside = join(home, 'engine.sock')
  // Bound by what the token says wherever it lies.
  const socket =
    Buffer.byteLength(beside) <= longest ? beside : join(tmpdir(), `lockstep-${userInfo().uid}-${name}.sock`)
  return { ...files, socket }
}
