import { spawn, type ChildProcess } from 'node:child_process'
import { killedProgram } from '../built-programs.ts'
import type { Fate } from './killed-child.ts'

/** How a child ended that worked on runs: the signal that killed it, or its exit code and what it said. */
export async function runChild(
  fates: readonly Fate[],
  onBegin?: (running: ChildProcess) => void,
): Promise<string> {
  const args = [killedProgram, JSON.stringify(fates)]
  const running = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  running.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  onBegin?.(running)
  return await new Promise((resolve) => {
    running.on('close', (code, signal) => resolve(signal ?? `${code} ${said}`))
  })
}
