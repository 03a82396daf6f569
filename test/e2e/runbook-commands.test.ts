import { type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { readRuns } from './read-runs.ts'
import { runLockstep, type Ended } from './run-lockstep.ts'

const root = mkdtempSync(join(tmpdir(), 'ls-rb-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const policy = {
  id: 'care',
  approvals: [{ tool: 'drain', required_roles: ['SRE'], message: 'An SRE looks at it.' }],
  approval_defaults: { expires_after: '15m', identity: ['local', 'asserted'] },
}

/** A folder of its own: a runbook of two programs, each of which leaves a line, and can be asked whether it did. */
function world() {
  const folder = mkdtempSync(join(root, 'c-'))
  const write = (name: string, value: unknown) =>
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value))
  write(
    'act.mjs',
    `import { appendFileSync, existsSync, readFileSync } from 'node:fs'
const [, , verb, key] = process.argv
const lines = existsSync('log') ? readFileSync('log', 'utf8').split('\\n') : []
if (verb === 'has') {
  if (!lines.includes(key)) process.exit(1)
  console.log(JSON.stringify({ note: 'already done' }))
} else {
  appendFileSync('log', key + '\\n')
  console.log('{}')
  if (existsSync('hang')) setInterval(() => existsSync('hang') || process.exit(), 20)
}
`,
  )
  const exec = ['cordon', 'drain'].map((name) => ({
    name,
    description: name,
    risk: 'write',
    output: 'json',
    command: [process.execPath, 'act.mjs', name, `{key}`],
    target: '{args.node}',
    reconcile: { command: [process.execPath, 'act.mjs', 'has', `{key}`] },
    input: { type: 'object', properties: { node: { type: 'string' } }, required: ['node'] },
  }))
  write('lockstep.config.json', { tools: { exec }, people: { ann: ['SRE'] }, policies: ['./care.json'] })
  write('care.json', policy)
  const steps = ['cordon', 'drain'].map((name) => ({ name, tool: name, input: { node: '{inputs.node}' } }))
  write('book.json', { name: 'book', inputs: { node: { type: 'string', default: 'n1' } }, steps })
  write('short.json', { name: 'short', steps: [{ name: 'cordon', tool: 'cordon', input: { node: 'n2' } }] })
  const home = join(folder, 'h')
  const env = { LOCKSTEP_HOME: home }
  const lockstep = (...args: string[]) => runLockstep(args, { cwd: folder, env })
  /** Begins a command and gives it while it runs. */
  const begin = (
    ...args: string[]
  ): { child: () => ChildProcess | null; out: () => string; err: () => string; ended: Promise<Ended> } => {
    let [child, out, err]: [ChildProcess | null, string, string] = [null, '', '']
    const ended = runLockstep(args, {
      cwd: folder,
      env,
      onOutput: (text, process) => {
        child = process
        out = text
      },
      onError: (text) => (err = text),
    })
    return { child: () => child, out: () => out, err: () => err, ended }
  }
  const log = () =>
    existsSync(join(folder, 'log'))
      ? readFileSync(join(folder, 'log'), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : []
  return { folder, home, write, lockstep, begin, log }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20)
}

describe('a runbook on the command line', () => {
  it('is shown before it is carried out, survives a kill, waits for the right person, and ends', async () => {
    const { folder, home, lockstep, begin, log, write } = world()
    const dry = await lockstep('run', 'book.json')
    expect([dry.code, dry.err]).toEqual([0, ''])
    expect(dry.out.split('\n')[0]).toBe('DRY RUN: nothing is changed. Add --mode execute.')
    expect(dry.out).toMatch(/^ 1 cordon +cordon n1 +would run/m)
    expect(dry.out).toMatch(/^ 2 drain +drain n1 +needs approval: SRE \(An SRE looks at it\.\)$/m)
    expect(log()).toEqual([])
    const shadow = await lockstep('run', 'book.json', '--mode', 'shadow')
    expect([shadow.code, shadow.err]).toEqual([1, expect.stringContaining('shadow is not available')])

    write('hang', '')
    const cut = begin('run', 'book.json', '--mode', 'execute')
    await until(() => log().length === 1)
    cut.child()!.kill('SIGKILL')
    await cut.ended
    rmSync(join(folder, 'hang'))
    const { run } = readRuns(home).at(-1)!
    // The file is changed: the run keeps the playbook it was begun with.
    write('book.json', { name: 'book', steps: [{ name: 'other', tool: 'cordon', input: { node: 'n9' } }] })
    const resumed = await lockstep('resume', run)
    expect(resumed.code, resumed.err).toBe(4)
    expect(resumed.err).toContain('keeps the playbook it was begun with')
    expect(resumed.out).toMatch(/^ 1 cordon +cordon n1 +outcome unknown → reconciled.* → continuing$/m)
    expect(resumed.out).toMatch(
      /^ 2 drain +drain n1 +waiting for SRE · 1[45] min left · npx lockstep approve a_[0-9a-f]+$/m,
    )
    const id = /approve (a_[0-9a-f]+)/.exec(resumed.out)![1]!
    expect((await lockstep('approve', id, '--as', 'ann')).code).toBe(0)
    const ended = await lockstep('resume', run)
    expect(ended.code, ended.out).toBe(0)
    expect(ended.out).toMatch(/^ 2 drain +drain n1 +✓$/m)
    expect(log()).toEqual([`${run}/cordon`, `${run}/drain`])
    const told = await lockstep('tail', run)
    expect([told.code, told.out]).toEqual([
      0,
      expect.stringMatching(/succeeded · run r_\S+\nNext: npx lockstep show r_/),
    ])
    expect((await lockstep('verify', run)).code).toBe(0)
  })

  it('is worked on by one engine, which other terminals reach', async () => {
    const { folder, home, lockstep, begin, log, write } = world()
    write('hang', '')
    const first = begin('run', 'book.json', '--mode', 'execute')
    await until(() => log().length === 1)
    const { run } = readRuns(home).at(-1)!
    // A second one is begun there, and followed from here.
    const second = begin('run', 'short.json', '--mode', 'execute')
    await until(() => log().length === 2)
    expect(second.out()).toMatch(/worked on by process \d+/)
    // One whose tools would see something else there is worked on here, and targets are locked all the same.
    const env = { LOCKSTEP_HOME: home, PATH: `${process.env['PATH']}:/elsewhere` }
    const own = await runLockstep(['run', 'short.json', '--mode', 'execute'], { cwd: folder, env })
    expect(own.err).toMatch(/worked on here, not by process \d+: PATH differs in process \d+\./)
    expect([own.code, own.out]).toEqual([4, expect.stringMatching(/^Why: run r_\S+ holds n2: /m)])
    expect(log()).toHaveLength(2)
    // Who takes up what is at work there is shown it.
    const watched = begin('resume', run, '--json')
    await until(() => watched.out().includes('"tool.admitted"'))
    watched.child()!.kill('SIGTERM')
    expect((await watched.ended).code).toBe(0)
    expect((await lockstep('resume', run, '--retry', 'cordon')).err).toMatch(
      /process \d+ has run r_\S+ in hand/,
    )
    const paused = await lockstep('pause', run, '--reason', 'lunch')
    expect([paused.code, paused.out]).toEqual([0, expect.stringContaining(`Next: npx lockstep tail ${run}`)])
    expect((await lockstep('pause', run)).code).toBe(1)
    const other = readRuns(home).at(-1)!.run
    expect((await lockstep('cancel', other, '--reason', 'mistake')).code).toBe(0)
    first.child()!.kill('SIGTERM')
    rmSync(join(folder, 'hang'))
    const left = await first.ended
    expect(left.out).toContain(`run ${run}`)
    await second.ended
    // Nobody has the store: the orders go into the record.
    expect((await lockstep('unpause', run)).out).toContain(`Next: npx lockstep resume ${run}`)
    expect((await lockstep('halt')).err).toContain('halt needs --reason TEXT')
    expect((await lockstep('halt', '--reason', 'audit')).code).toBe(0)
    expect((await lockstep('halt', '--reason', 'again')).code).toBe(1)
    const before = log().length
    // It is written down, waits for nothing, and says who halted and what lets it go on; so does one that is taken up.
    const halted = await lockstep('run', 'short.json', '--mode', 'execute')
    const { run: third } = readRuns(home).at(-1)!
    const says = new RegExp(
      `halted · run ${third}\\nWhy: HALTED by \\S+: audit\\nRecord: .*\\nNext: npx lockstep unhalt --reason TEXT, then: npx lockstep resume ${third}\\n$`,
    )
    expect([halted.code, halted.out]).toEqual([4, expect.stringMatching(says)])
    const still = await lockstep('resume', third)
    expect([still.code, still.out]).toEqual([4, expect.stringMatching(says)])
    expect(log()).toHaveLength(before)
    expect((await lockstep('unhalt', '--reason', 'over')).code).toBe(0)
    expect((await lockstep('resume', third)).code).toBe(0)
    expect(log()).toHaveLength(before + 1)
    const cancelled = await lockstep('cancel', run)
    expect([cancelled.code, cancelled.out]).toEqual([0, expect.stringMatching(/^cancelled · run/)])
  })
})
