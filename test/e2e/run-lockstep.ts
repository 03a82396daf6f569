import { type ChildProcess, spawn } from 'node:child_process'
import { lockstepProgram } from '../built-programs.ts'

/** How a run of the command line ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the command line as a process of its own, without a terminal. */
export function runLockstep(
  args: readonly string[],
  options: {
    readonly cwd: string
    readonly env?: Record<string, string>
    readonly stdin?: string
    /** Sees the output as it grows. */
    readonly onOutput?: (out: string, child: ChildProcess) => void
    /** The same for what it says on standard error. */
    readonly onError?: (err: string) => void
  },
): Promise<Ended> {
  const env = { ...process.env, ...options.env }
  delete env['FORCE_COLOR']
  const child = spawn(process.execPath, [lockstepProgram, ...args], { cwd: options.cwd, env, stdio: 'pipe' })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    options.onOutput?.(out, child)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
    options.onError?.(err)
  })
  if (options.stdin !== undefined) child.stdin.end(options.stdin)
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, out, err }))
  })
}
