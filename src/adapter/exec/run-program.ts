import { spawn } from 'node:child_process'
import { ToolFailure } from '../../tool/tool-failure.ts'

/** A program to be run: no shell reads its arguments. */
export interface Program {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string | null
}

/** How a program ended, and what it said, each text up to a size. */
export interface ProgramEnd {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

/** The groups of programs that run now. Who leaves at once leaves none of them behind. */
const running = new Set<number>()
process.once('exit', () => {
  for (const pid of running) endGroup(pid, 'SIGKILL')
})

/** How long a program may take to end after it was asked to, in milliseconds. */
const patience = 2_000

/**
 * Runs a program to its end. Aborting ends it and everything it started: asked first, then forced. Throws ToolFailure if it could
 * not be started, in which case nothing has happened.
 */
export function runProgram(program: Program, most: number, signal: AbortSignal): Promise<ProgramEnd> {
  const [file = '', ...args] = program.command
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) =>
      reject(new ToolFailure(`${JSON.stringify(file)} could not be started: ${codeOf(error)}`))
    let child
    try {
      // A group of its own: what the program started ends with it, and Ctrl-C reaches it through us.
      const options = { cwd: program.cwd, env: { ...program.env }, detached: process.platform !== 'win32' }
      child = spawn(file, args, { ...options, shell: false, windowsHide: true, stdio: 'pipe' })
    } catch (error) {
      refuse(error)
      return
    }
    const { pid, stdin, stdout, stderr } = child
    const end = (how: NodeJS.Signals) => {
      if (pid === undefined || process.platform === 'win32') child.kill(how)
      else endGroup(pid, how)
    }
    if (pid !== undefined && process.platform !== 'win32') running.add(pid)
    let force: NodeJS.Timeout | undefined
    let drain: NodeJS.Timeout | undefined
    // What the program left behind may keep its pipes open for ever; what it says then is not the program's.
    const letGo = () => {
      stdout.destroy()
      stderr.destroy()
    }
    child.once('exit', () => {
      running.delete(pid!)
      drain = setTimeout(letGo, patience)
    })
    const stop = () => {
      end('SIGTERM')
      force = setTimeout(() => {
        end('SIGKILL')
        letGo()
      }, patience)
    }
    const [out, err] = [collect(stdout, most), collect(stderr, most)]
    child.once('error', (error) => {
      signal.removeEventListener('abort', stop)
      if (pid === undefined) refuse(error)
      else reject(error)
    })
    child.once('close', (code, killedBy) => {
      clearTimeout(force)
      clearTimeout(drain)
      signal.removeEventListener('abort', stop)
      resolve({ code, signal: killedBy, stdout: out(), stderr: err() })
    })
    // A program that does not read its input closes the pipe; that is its right.
    stdin.on('error', () => undefined)
    stdin.end(program.stdin ?? '')
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function endGroup(pid: number, how: NodeJS.Signals): void {
  try {
    process.kill(-pid, how)
  } catch {
    // It has ended already.
  }
}

/** Keeps what comes up to a size and one byte more, which tells that there was more; the rest is read and forgotten. */
function collect(stream: NodeJS.ReadableStream, most: number): () => Uint8Array {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size > most) return
    chunks.push(chunk)
    size += chunk.length
  })
  return () => Buffer.concat(chunks)
}

function codeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string }
  switch (code) {
    case 'ENOENT':
      return 'there is no such program or folder'
    case 'EACCES':
      return 'it may not be run'
    case 'E2BIG':
      return 'its arguments are too long'
    default:
      return code ?? message ?? 'unknown'
  }
}
