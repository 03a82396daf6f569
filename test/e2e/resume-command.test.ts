import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { readRuns } from './read-runs.ts'
import { runHere } from './run-here.ts'
import { runLockstep } from './run-lockstep.ts'

const root = mkdtempSync(join(tmpdir(), 'lockstep-resume-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let folder = ''
let env: Record<string, string> = {}
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'))
  env = { LOCKSTEP_HOME: join(folder, 'home') }
  // A tool that leaves a line for each time it really ran, and one that never comes back.
  writeFileSync(
    join(folder, 'note.mjs'),
    `import { appendFileSync, existsSync } from 'node:fs'
appendFileSync('log', process.argv[2] + '\\n')
// It outlives whoever started it, as it would; but not the folder of the test.
if (process.argv[3] === 'hang') setInterval(() => existsSync('note.mjs') || process.exit(), 200)
console.log(JSON.stringify({ did: process.argv[2] }))
`,
  )
  configure()
  write('p.yaml', {
    id: 'p',
    name: 'P',
    steps: ['one', 'two', 'three'].map((id) => ({ id, description: id, expected_tools: [id] })),
  })
})

function write(name: string, value: unknown): void {
  writeFileSync(join(folder, name), JSON.stringify(value))
}

function configure(hanging = ''): void {
  const exec = ['one', 'two', 'three'].map((name) => ({
    name,
    description: name,
    output: 'json',
    command: [process.execPath, 'note.mjs', name, ...(name === hanging ? ['hang'] : [])],
  }))
  write('lockstep.config.json', { tools: { exec } })
}

/** A model that takes its time before the turns after the given one. */
function script(slowAfter = 99): string[] {
  const turns = [
    ...['one', 'two', 'three'].map((tool) => ({ calls: [{ tool }] })),
    { text: 'All three.' },
  ].map((turn, index) => (index >= slowAfter ? { ...turn, delay_ms: 30_000 } : turn))
  write(`script-${slowAfter}.yaml`, { turns })
  return ['--model', `scripted:script-${slowAfter}.yaml`]
}

const log = () =>
  existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8').split('\n') : []
const lines = () => log().filter((line) => line !== '')
const lockstep = (...args: string[]) => runLockstep(args, { cwd: folder, env })

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20)
}

/** Begins a run, ends its process when the condition holds, and says which run it was. */
async function cut(args: string[], holds: () => boolean, how: NodeJS.Signals = 'SIGKILL') {
  let child: { kill: (signal: NodeJS.Signals) => boolean } | null = null
  const running = runLockstep(['run', 'p.yaml', '--mode', 'execute', ...args], {
    cwd: folder,
    env,
    onOutput: (_, started) => (child = started),
  })
  await until(() => child !== null && holds())
  child!.kill(how)
  const { out } = await running
  return { run: readRuns(env['LOCKSTEP_HOME']!)[0]!.run, out }
}

/** Whether the record says that the model was told of so many calls. */
function told(calls: number): boolean {
  return readRuns(env['LOCKSTEP_HOME']!).filter(({ type }) => type === 'tool.returned').length >= calls
}

describe('a run whose process was killed', () => {
  it('between two calls goes on, and nothing happens twice', async () => {
    const { run, out } = await cut(script(2), () => told(2))
    expect(out.split('\n')[0]).toContain(`run ${run}`)
    expect(lines()).toEqual(['one', 'two'])
    const ended = await lockstep('resume', run, ...script().slice(0, 1), 'scripted:rest.yaml')
    expect(ended.err).toContain('rest.yaml cannot be read')
    write('rest.yaml', { turns: [{ calls: [{ tool: 'three' }] }, { text: 'All three.' }] })
    const { code, out: resumed } = await lockstep('resume', run, '--model', 'scripted:rest.yaml')
    expect(code, resumed).toBe(0)
    expect(resumed).toContain('Taken up after 2 turns and 2 calls · p.yaml')
    expect(resumed).toMatch(/^succeeded · 1 done, 0 stopped · run r_/m)
    expect(lines()).toEqual(['one', 'two', 'three'])
  })

  it('goes on with the model it was begun with, a script where it was, by the beginning of its name', async () => {
    const { run } = await cut(script(1), () => told(1))
    // The script itself, mended: its first turn was answered, and is not said again.
    write(
      'script-1.yaml',
      JSON.parse(readFileSync(join(folder, 'script-1.yaml'), 'utf8').replaceAll('30000', '0')),
    )
    const { code, out } = await lockstep('resume', run.slice(0, 10))
    expect([code, lines()]).toEqual([0, ['one', 'two', 'three']])
    expect(out).toContain('All three.')
    const again = await lockstep('resume', run)
    expect([again.code, again.err]).toEqual([
      1,
      `lockstep: Run ${run} has ended (succeeded), so there is nothing to take up. Begin a new one with lockstep run\n`,
    ])
  })

  it('in the middle of a call waits until somebody settles it', async () => {
    configure('two')
    const { run } = await cut(script(), () => lines().length === 2)
    configure()
    const model = ['--model', 'scripted:rest.yaml']
    write('rest.yaml', { turns: [{ text: 'I do not know.' }, { text: 'No.' }, { text: 'No.' }] })
    const waiting = await lockstep('resume', run, ...model)
    expect(waiting.code).toBe(1)
    expect(waiting.out).toMatch(/^paused · /m)
    const next =
      /^Next: find out what became of two \((\S+)\), then: npx lockstep (resume \S+ --settle \S+)/m.exec(
        waiting.out,
      )
    expect(next?.[2], waiting.out).toBe(`resume ${run} --settle ${next?.[1]}=succeeded`)
    write('rest.yaml', { turns: [{ calls: [{ tool: 'three' }] }, { text: 'All three.' }] })
    const args = [...next![2]!.split(' '), '--result', '{"did":"two"}', ...model]
    const { code, out } = await lockstep(...args)
    expect(code, out).toBe(0)
    expect(lines()).toEqual(['one', 'two', 'three'])
  })

  it('goes on with the playbook it was begun with, whatever became of the file, and not by two at once', async () => {
    const { run } = await cut(script(1), () => told(1))
    const before = readFileSync(join(folder, 'p.yaml'), 'utf8')
    writeFileSync(join(folder, 'p.yaml'), before.replace('"three"', '"four"'))
    const slow = readFileSync(join(folder, 'script-1.yaml'), 'utf8')
    writeFileSync(join(folder, 'script-1.yaml'), slow.replaceAll('30000', '400'))
    const both = await Promise.all([lockstep('resume', run), lockstep('resume', run)])
    expect(both.map(({ code }) => code).toSorted()).toEqual([0, 1])
    expect(both.find(({ code }) => code === 1)!.err).toContain(`Run ${run}`)
    expect(both.find(({ code }) => code === 0)!.err).toMatch(
      /p\.yaml was changed since the run was begun; the run keeps the playbook it was begun with/,
    )
    expect(lines()).toEqual(['one', 'two', 'three'])
  })
})

describe('a run that was put down', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s says how to take it up', async (signal) => {
    const { run, out } = await cut(script(1), () => told(1), signal)
    expect(out).toMatch(/^interrupted · 1 done/m)
    expect(out).toContain(`Next: npx lockstep resume ${run}\n`)
  })

  it('waits at a step for a person, who may have it begun anew', async () => {
    write('p.yaml', {
      id: 'p',
      name: 'P',
      steps: [
        {
          id: 'one',
          description: 'd',
          expected_tools: ['one'],
          max_tool_calls: 1,
          on_limit: 'escalate',
          validation: { required_result_keywords: ['never'] },
        },
      ],
    })
    write('s.yaml', { turns: [{ calls: [{ tool: 'one' }] }, { text: 'Done.' }] })
    const { code, out } = await lockstep('run', 'p.yaml', '--mode', 'execute', '--model', 'scripted:s.yaml')
    expect(code).toBe(1)
    const next = /^Next: npx lockstep (resume \S+ --retry one)$/m.exec(out)
    expect(next, out).not.toBeNull()
    write('s2.yaml', { turns: [{ calls: [{ tool: 'one' }] }] })
    const again = await lockstep(...next![1]!.split(' '), '--model', 'scripted:s2.yaml')
    expect(again.out).toMatch(/^paused · 1 done/m)
    expect(lines()).toEqual(['one', 'one'])
  })
})

describe('lockstep resume', () => {
  it.each([
    [[], /resume takes a run, no recorded run waits/],
    [['r_none'], /there is no run r_none/],
    [['../x'], /there is no run/],
    [['a', 'b'], /resume takes one run/],
    [['r', '--settle', '1.a'], /--settle needs CALL=succeeded or CALL=failed, not 1\.a/],
    [['r', '--settle', '1.a=suceeded'], /did you mean 1\.a=succeeded\?/],
    [['r', '--settle', '1.a=failed', '--result', '1'], /--result goes with one --settle/],
    [['r', '--settle', '1.a=succeeded', '--result', '{'], /--result must be JSON/],
    [['r', '--settle', '1.a=failed', '--settle', '1.a=succeeded'], /settled only once/],
    [['r', '--stettle', 'x'], /did you mean --settle\?/],
  ])('answers %j with exit code 2', async (args, message) => {
    const { code, err } = await runHere(['resume', ...args], { cwd: folder, env })
    expect([code, err]).toEqual([2, expect.stringMatching(message)])
  })

  it('names the runs that have not ended', async () => {
    const { run } = await cut(script(1), () => told(1))
    expect((await lockstep('resume')).err).toContain(`these have not ended: ${run}`)
    expect((await lockstep('resume', run, '--retry', 'tow')).err).toContain(
      'unknown step tow, did you mean two?',
    )
    const settled = await lockstep('resume', run, '--settle', '9.x=failed')
    expect([settled.code, settled.err]).toEqual([2, expect.stringContaining("no open call '9.x'")])
  })
})
