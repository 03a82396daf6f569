import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from './run-program.ts'

it('does not wait for what a program left behind with its pipes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-program-'))
  const mark = join(folder, 'pid')
  // The child keeps the pipe open in a group of its own, so that nothing but letting go of the pipe ends the wait.
  const leave = `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 120000)'], { detached: true, stdio: 'inherit' })
    require('node:fs').writeFileSync(${JSON.stringify(mark)}, String(child.pid))
    child.unref()
    process.stdout.write('done')`
  const program = { command: [process.execPath, '-e', leave], cwd: folder, env: {}, stdin: null }
  const ended = await runProgram(program, 1_000, new AbortController().signal)
  expect(Buffer.from(ended.stdout).toString()).toBe('done')
  expect(ended.code).toBe(0)
  process.kill(Number(readFileSync(mark, 'utf8')), 'SIGKILL')
  rmSync(folder, { recursive: true })
})
