import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { lockstepProgram } from '../built-programs.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'lockstep-terminal-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** A terminal to be had by `script` of util-linux, else by Python; null where neither is. */
function terminalCommand(command: string): [string, string[]] | null {
  const works = (program: string, args: string[]) => spawnSync(program, args).status === 0
  if (works('script', ['-qec', 'true', '/dev/null'])) return ['script', ['-qec', command, '/dev/null']]
  const python = 'import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh","-c",sys.argv[1]])))'
  return works('python3', ['-c', 'import pty']) ? ['python3', ['-c', python, command]] : null
}

/** Types each line when the prompt stands there; what a person saw comes back, without colours and returns. */
async function type(args: string, lines: readonly string[]): Promise<{ code: number | null; seen: string }> {
  // Without exec a shell stands in between, which Ctrl-C ends with a code of its own while the line discipline still makes it a signal.
  const [program, rest] = terminalCommand(`exec ${process.execPath} ${lockstepProgram} ${args}`)!
  const env = { ...process.env, LOCKSTEP_HOME: home, TERM: 'xterm' }
  const child = spawn(program, rest, { cwd: examples, env, stdio: 'pipe' })
  const waiting = [...lines]
  let seen = ''
  let from = 0
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString()
    if (waiting.length === 0 || !seen.slice(from).endsWith('> ')) return
    from = seen.length
    child.stdin.write(waiting.shift()!)
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  // oxlint-disable-next-line no-control-regex -- colours begin with one
  return { code, seen: seen.replaceAll(/\u001b\[\d+m|\r/g, '') }
}

const there = terminalCommand('true') !== null
if (!there) console.warn('skipped: neither script nor python3 is there to give a terminal')

test.skipIf(!there)('a person at a terminal is the model, and sees what they need', async () => {
  const { code, seen } = await type('run refund-desk.yaml', [
    'help\n',
    'refund order_id=ORD-42\n',
    'lookup_customer customer_id=C-7\n',
    'All done\n',
    '"All done."\n',
    '\u0003',
  ])
  expect(code).toBe(1)
  expect(seen).toContain('DRY RUN: nothing is changed. Add --mode execute.\n')
  expect(seen).toContain('Tools: lookup_customer customer_id=, fail_step [error=]\n')
  // What was typed stands behind the prompt, and what became of it on the next line.
  expect(seen).toMatch(/\n> help\nType a call, .* Ctrl-C stops\.\n> /)
  expect(seen).toMatch(
    /\n> lookup_customer customer_id=C-7\n ✓ lookup_customer {2}customer_id=C-7 {2}step 1\/4/,
  )
  expect(seen).toContain('result: {"customer_id":"C-7","name":"Ada Moreno","active":true}\n')
  expect(seen).toMatch(
    /\n> All done\n"done" is not an argument\..* An answer stands in quotation marks\.\n> /,
  )
  expect(seen).toMatch(
    /SENT BACK: .*\(see docs\/guide\/playbooks\.md#the-agent-believes-that-a-step-is-done\)\n/,
  )
  expect(seen).toMatch(/\nStopping; press Ctrl-C again to leave at once\.\n.*interrupted · 1 made/s)
  expect(seen).toMatch(/\nNext: npx lockstep resume dry_\S+\n/)
  expect(seen.match(/Type a call/g)).toHaveLength(2)
  expect(seen).not.toContain('[procedure]')
})

test.skipIf(!there)('Ctrl-D leaves the run as it is, on a line of its own', async () => {
  const { code, seen } = await type('run refund-desk.yaml --mode execute --model me', ['\u0004'])
  expect(code).toBe(3)
  expect(seen).toMatch(
    /\n> \npaused · 0 done, 0 stopped · run r_\S+\nWhy: the input ended before the run did\n/,
  )
  expect(seen).toMatch(/\nNext: npx lockstep resume r_\S+\n/)
})

test.skipIf(!there)('a model at work is shown with its steps, which are redrawn in their place', async () => {
  const { code, seen } = await type('run refund-desk.yaml --model scripted:refund-desk.script.yaml', [])
  expect(code).toBe(0)
  expect(seen).toContain('100 %')
  expect(seen.split('\u001b[6A\u001b[0J').length).toBeGreaterThan(4)
})
