import { spawn, type ChildProcess } from 'node:child_process'
import { killedProgram } from '../built-programs.ts'
import type { Death } from './killed-child.ts'
import type { Job } from './work-on.ts'

/** How a child ended that worked on a run: the signal that killed it, or its exit code and what it said. */
export async function runChild(
  job: Job,
  death: Death,
  onBegin?: (running: ChildProcess) => void,
): Promise<string> {
  const args = [killedProgram, JSON.stringify({ job, death })]
  const running = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  running.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  onBegin?.(running)
  return await new Promise((resolve) => {
    running.on('close', (code, signal) => resolve(signal ?? `${code} ${said}`))
  })
}
