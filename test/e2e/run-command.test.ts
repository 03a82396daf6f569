import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { afterAll, describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { readRuns } from './read-runs.ts'
import { runLockstep } from './run-lockstep.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lockstep-run-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let homes = 0

/** A folder of its own for what one run leaves. */
function home(): { env: Record<string, string>; log: string; records: () => JournalEntry[] } {
  const path = join(folder, `home-${++homes}`)
  const log = `${path}.log`
  return {
    env: { LOCKSTEP_HOME: path, DESK_LOG: log },
    log,
    records: () => readRuns(path),
  }
}

function write(name: string, value: unknown): string {
  writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value))
  return name
}

const script = ['--model', 'scripted:refund-desk.script.yaml']

describe('lockstep run: the examples', () => {
  it('changes nothing unless told to, and says so on the first line', async () => {
    const { env, log, records } = home()
    const { code, out, err } = await runLockstep(['run', 'refund-desk.yaml', ...script], {
      cwd: examples,
      env,
    })
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n')[0]).toBe('DRY RUN: nothing is changed. Add --mode execute.')
    expect(out).toContain('✓ lookup_order     order_id=ORD-42  step 2/4 verify_order')
    expect(out).toContain(
      '○ refund           order_id=ORD-42 customer_id=C-7 amount=30  not called · step 3/4',
    )
    expect(out).toContain('would: {"command":["node","desk.mjs","refund"],"stdin":"{')
    expect(out).toMatch(/✗ refund .*amount=300 {2}DENIED rule:/)
    expect(out).toContain('SENT BACK: "notify" remains')
    expect(out).toMatch(/^succeeded · 2 made, 2 shown, 2 stopped · run dry_/m)
    expect(out).toMatch(/^Next: npx lockstep run refund-desk.yaml --model \S+ --mode execute$/m)
    expect(existsSync(log)).toBe(false)
    const results = records().flatMap(({ type, data }) =>
      type === 'tool.settled' ? [(data as { result: { dry_run?: boolean } }).result.dry_run ?? false] : [],
    )
    expect(results).toEqual([false, false, true, true])
  })

  it('does it with --mode execute, and its record and script tell of the same run', async () => {
    const { env, log, records } = home()
    const recorded = join(folder, 'recorded.yaml')
    const args = ['run', 'refund-desk.yaml', ...script, '--mode', 'execute', '--record', recorded]
    const { code, out } = await runLockstep(args, { cwd: examples, env })
    expect(code).toBe(0)
    expect(out).not.toContain('DRY RUN')
    expect(readFileSync(log, 'utf8')).toBe('refunded ORD-42 30\ntold C-7: We have refunded $30.\n')
    const record = /^Record: (.+)$/m.exec(out)![1]!
    expect(record.startsWith(env['LOCKSTEP_HOME']!)).toBe(true)
    expect(records().at(-1)).toMatchObject({ type: 'run.finished', data: { status: 'succeeded' } })

    const again = home()
    const replay = ['run', 'refund-desk.yaml', '--model', `scripted:${recorded}`, '--mode=execute']
    expect((await runLockstep(replay, { cwd: examples, env: again.env })).code).toBe(0)
    expect(readFileSync(again.log, 'utf8')).toBe(readFileSync(log, 'utf8'))
    const story = (entries: readonly JournalEntry[]) =>
      entries.map(({ type, data }) => [
        type,
        (data as { tool?: string }).tool,
        (data as { code?: string }).code,
      ])
    expect(story(again.records())).toEqual(story(records()))
    expect((parse(readFileSync(recorded, 'utf8')) as { turns: unknown[] }).turns).toHaveLength(7)
  })

  it('tells programs every event, one a line', async () => {
    const { env } = home()
    const { code, out } = await runLockstep(['run', 'refund-desk.yaml', ...script, '--json'], {
      cwd: examples,
      env,
    })
    expect(code).toBe(0)
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines[0]).toMatchObject({
      type: 'run.mode',
      mode: 'dry-run',
      note: expect.stringContaining('DRY RUN'),
    })
    expect(lines.at(-1)).toMatchObject({ type: 'run.result', status: 'succeeded', reason: null })
    expect(lines.filter(({ type }) => type === 'tool.denied')).toMatchObject([
      { tool: 'refund', code: 'rule' },
    ])
    expect(existsSync(String(lines.at(-1)!['record']))).toBe(true)
  })

  it('lets a person be the model, on a pipe too', async () => {
    const { env } = home()
    const stdin = 'nonsense(\nlookup_customer customer_id=C-7\nfail_step error="enough"\n'
    const options = { cwd: examples, env, stdin }
    const { code, out } = await runLockstep(['run', 'refund-desk.yaml', '--model', 'me'], options)
    expect(code).toBe(1)
    expect(out).toContain('✓ lookup_customer  customer_id=C-7')
    expect(out).toContain('Ada Moreno')
    expect(out).toMatch(/^failed · 1 made/m)
    const quiet = await runLockstep(['run', 'refund-desk.yaml', '--model', 'me', '--json'], options)
    for (const line of quiet.out.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow()
    expect(quiet.err).toContain('Tools: lookup_customer')
  })

  it('ends when the input of the person does', async () => {
    const { env } = home()
    const ended = await runLockstep(['run', 'refund-desk.yaml', '--model', 'me'], {
      cwd: examples,
      env,
      stdin: '',
    })
    expect(ended.code).toBe(3)
    expect(ended.out).toMatch(/^paused .*\nWhy: the input ended before the run did\n/m)
    expect(ended.out).toMatch(/^Next: npx lockstep resume dry_/m)
  })
})

const playbook = (tool: string, more: object = {}) => ({
  id: 'p',
  name: 'P',
  steps: [{ id: 's', description: 'd', expected_tools: [tool] }],
  ...more,
})
const says = (...turns: object[]) => ({ turns })
const exec = (name: string, command: string[], more: object = {}) => ({
  tools: { exec: [{ name, description: 'd', command, ...more }] },
})

describe('lockstep run: what it is given', () => {
  const inputs = {
    order_id: { type: 'string', description: 'Which order.' },
    count: 'integer',
    rush: { type: 'boolean', default: false },
    tags: { type: 'array', required: false },
  }
  const file = write('inputs.json', { id: 'i', name: 'I', steps: [], inputs })
  const model = ['--model', `scripted:${write('done.yaml', says({ text: 'done' }))}`]
  const run = (...args: string[]) =>
    runLockstep(['run', file, ...model, ...args], { cwd: folder, env: home().env })

  it('asks for the inputs that are missing, with exit code 3', async () => {
    const { code, err } = await run('--input', 'count=1')
    expect(code).toBe(3)
    expect(err).toBe('lockstep: the playbook needs more inputs:\n  --input order_id=STRING   Which order.\n')
  })

  it('reads each as its type', async () => {
    const args = ['order_id=007', 'count=3', 'rush=true', 'tags=["a"]'].flatMap((input) => ['--input', input])
    const { code, out } = await run(...args, '--json')
    expect(code).toBe(0)
    const started = out.split('\n').find((line) => line.includes('run.started'))!
    expect(JSON.parse(started)).toMatchObject({
      inputs: { order_id: '007', count: 3, rush: true, tags: ['a'] },
    })
  })

  it.each([
    ['count=three', 2, /count must be a whole number, not three/],
    ['count=1.5', 2, /whole number/],
    ['count=', 2, /whole number/],
    ['rush=yes', 2, /rush must be true or false/],
    ['tags={}', 2, /tags must be a list in JSON/],
    ['oder_id=1', 2, /unknown input oder_id, did you mean order_id\?/],
    ['order_id', 2, /--input needs name=value/],
  ])('refuses --input %s', async (input, code, message) => {
    const ended = await run('--input', input)
    expect(ended.code).toBe(code)
    expect(ended.err).toMatch(message)
  })

  it.each([
    [['run'], 2, /run takes one playbook/],
    [['run', file], 2, /run needs --model, because this is no terminal, pass openai/],
    [['run', file, ...model, '--mode', 'exeute'], 2, /did you mean execute/],
    [['run', 'none.yaml', ...model], 1, /File not found/],
    [
      ['run', file, '--model', 'opnai:gpt', '--input', 'order_id=1', '--input', 'count=1'],
      1,
      /Did you mean openai/,
    ],
  ])('answers %j', async (args, code, message) => {
    const ended = await runLockstep(args, { cwd: folder, env: home().env })
    expect(ended.err).toMatch(message)
    expect(ended.code).toBe(code)
  })

  it('says what is missing when there is no configuration, or a tool is not in it', async () => {
    const path = write('needs.json', playbook('refund'))
    const without = await runLockstep(['run', path, ...model], { cwd: folder, env: home().env })
    expect([without.code, without.err]).toEqual([
      1,
      expect.stringMatching(/no lockstep\.config\.yaml.*: refund/),
    ])
    const config = write('near.json', exec('refnd', ['true']))
    const near = await runLockstep(['run', path, ...model, '--config', config], {
      cwd: folder,
      env: home().env,
    })
    expect([near.code, near.err]).toEqual([1, expect.stringMatching(/refund.*Did you mean 'refnd'/s)])
  })

  it.each([
    [['--model', 'opnai:gpt'], /no model 'opnai:gpt'/],
    [['--model', 'openai:gpt-5'], /OPENAI_API_KEY is not set/],
    [['--model', 'scripted:none.yaml'], /none\.yaml cannot be read/],
    [[...script, '--record', join(folder, 'no', 'such', 'folder.yaml')], /folder\.yaml cannot be written/],
    [[...script, '--record', folder], /cannot be written: it is no file/],
    [[...script, '--record', 'refund-desk.yaml'], /would replace a file that this run reads/],
  ])('finds out before anything is begun or told: %j', async (args, message) => {
    const { env, log } = home()
    const options = { cwd: examples, env: { ...env, OPENAI_API_KEY: '' } }
    const ended = await runLockstep(['run', 'refund-desk.yaml', ...args, '--mode', 'execute'], options)
    expect([ended.code, ended.out, ended.err]).toEqual([1, '', expect.stringMatching(message)])
    expect(existsSync(log)).toBe(false)
    expect(existsSync(join(folder, 'no'))).toBe(false)
  })

  it('leaves no script behind where the model said nothing', async () => {
    const record = join(folder, 'unsaid.yaml')
    const args = ['run', 'refund-desk.yaml', '--model', 'me', '--record', record]
    await runLockstep(args, { cwd: examples, env: home().env, stdin: '' })
    expect(existsSync(record)).toBe(false)
  })

  it('does not begin a run that cannot be recorded', async () => {
    const LOCKSTEP_HOME = join(folder, write('a-file', 'no folder'))
    const ended = await runLockstep(['run', 'refund-desk.yaml', ...script], {
      cwd: examples,
      env: { LOCKSTEP_HOME },
    })
    expect([ended.code, ended.out, ended.err]).toEqual([
      1,
      '',
      expect.stringContaining('Runs cannot be recorded in'),
    ])
  })

  it.skipIf(process.platform !== 'linux')('does not hang where no folder can be made', async () => {
    const ended = await runLockstep(['run', 'refund-desk.yaml', ...script], {
      cwd: examples,
      env: { LOCKSTEP_HOME: '/proc/lockstep/home' },
    })
    expect([ended.code, ended.out, ended.err]).toEqual([
      1,
      '',
      expect.stringMatching(/^lockstep: Runs cannot be recorded in \/proc\/.*\. Set LOCKSTEP_HOME to /),
    ])
  })

  it('names every mistake of a configuration with its line', async () => {
    const config = write(
      'typos.yaml',
      'tolos: {}\ntools:\n  exec:\n    - name: a\n      descripton: d\n      comand: [x]\n',
    )
    const { code, err } = await runLockstep(['tools', '--config', config], { cwd: folder })
    expect(code).toBe(1)
    expect(err.split('\n')).toEqual([
      'lockstep: Invalid configuration typos.yaml:',
      '  line 1, column 1: unknown key `tolos` in the configuration, did you mean `tools`?',
      '  line 4, column 7: `description` of the exec tool `a` is missing',
      '  line 4, column 7: `command` of the exec tool `a` is missing',
      expect.stringMatching(/^ {2}line 5, column 7: unknown key `descripton`/),
      expect.stringMatching(/^ {2}line 6, column 7: unknown key `comand`/),
      '',
    ])
  })
})

describe('lockstep run: calls that end badly', () => {
  const node = process.execPath
  const sleeper = join(folder, 'sleep.mjs')
  writeFileSync(
    sleeper,
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(process.argv[2], String(process.pid))\nsetInterval(() => {}, 1000)\n`,
  )
  const file = write('slow.json', playbook('slow'))
  const calls = says({ calls: [{ tool: 'slow' }] }, { text: 'over' }, { text: 'over' }, { text: 'over' })
  const model = ['--model', `scripted:${write('slow.yaml', calls)}`, '--mode', 'execute']

  function isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0)
      // One that has ended and whose parent did not ask how is still listed.
      return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      return false
    }
  }

  it('knows nothing of a write that took too long, and does not let the run succeed', async () => {
    const mark = join(folder, 'timeout.pid')
    // A shell has begun in time where Node might not have.
    const quick = ['sh', '-c', 'echo $$ > "$1"; exec sleep 600', 'sh', mark]
    const config = write('timeout.json', exec('slow', quick, { timeout_seconds: 1.5 }))
    const { code, out } = await runLockstep(['run', file, ...model, '--config', config], {
      cwd: folder,
      env: home().env,
    })
    expect(code).toBe(1)
    expect(out).toContain('UNKNOWN: it took longer than 1.5 s')
    expect(isAlive(Number(readFileSync(mark, 'utf8')))).toBe(false)
  })

  it('stops on Ctrl-C, ends what runs, and says how to go on', async () => {
    const mark = join(folder, 'cancel.pid')
    const config = write('cancel.json', exec('slow', [node, sleeper, mark]))
    let waiting = false
    const ended = runLockstep(['run', file, ...model, '--config', config], {
      cwd: folder,
      env: home().env,
      onOutput(out, child) {
        // Once: a second signal would meet a process that is leaving already.
        if (waiting || !out.includes('1 step')) return
        waiting = true
        const wait = setInterval(() => {
          if (!existsSync(mark) || readFileSync(mark, 'utf8') === '') return
          clearInterval(wait)
          child.kill('SIGINT')
        }, 50)
      },
    })
    const { code, out, err } = await ended
    expect(code).toBe(1)
    expect(err).toContain('Stopping; press Ctrl-C again')
    expect(out).toMatch(/^interrupted · .* · run r_/m)
    expect(out).toMatch(
      /^Next: find out what became of slow \((.+)\), then: npx lockstep resume r_\S+ --settle \1=succeeded/m,
    )
    expect(isAlive(Number(readFileSync(mark, 'utf8')))).toBe(false)
  })

  it('leaves at once on a second Ctrl-C, and leaves no program behind', async () => {
    const mark = join(folder, 'stubborn.pid')
    const stubborn = join(folder, 'stubborn.mjs')
    writeFileSync(
      stubborn,
      `import { writeFileSync } from 'node:fs'\nprocess.on('SIGTERM', () => {})\nwriteFileSync(process.argv[2], String(process.pid))\nsetInterval(() => {}, 1000)\n`,
    )
    const config = write('stubborn.json', exec('slow', [node, stubborn, mark]))
    let running: ChildProcess | undefined
    let again = false
    const { code } = await runLockstep(['run', file, ...model, '--config', config], {
      cwd: folder,
      env: home().env,
      onOutput(_, child) {
        if (running !== undefined) return
        running = child
        const wait = setInterval(() => {
          if (!existsSync(mark) || readFileSync(mark, 'utf8') === '') return
          clearInterval(wait)
          child.kill('SIGINT')
        }, 50)
      },
      onError(err) {
        // Two signals that come before the first was noticed are one.
        if (again || !err.includes('press Ctrl-C again')) return
        again = true
        running?.kill('SIGINT')
      },
    })
    expect([code, again]).toEqual([1, true])
    await expect.poll(() => isAlive(Number(readFileSync(mark, 'utf8')))).toBe(false)
  })

  it('stops while a person is asked', async () => {
    let sent = false
    const config = write('idle.json', exec('slow', [node, sleeper, join(folder, 'never')]))
    const { code, out } = await runLockstep(['run', file, '--model', 'me', '--config', config], {
      cwd: folder,
      env: home().env,
      onOutput(text, child) {
        if (sent || !text.includes('> ')) return
        sent = true
        child.kill('SIGINT')
      },
    })
    expect(code).toBe(1)
    expect(out).toMatch(/^interrupted /m)
    expect(out).toMatch(/^Next: npx lockstep resume dry_\S+$/m)
  })

  it('shows a tool without a dry run with its final arguments, and does not call it', async () => {
    const tools = fileURLToPath(new URL('../../src/tool/tool.ts', import.meta.url))
    const mark = join(folder, 'called')
    write(
      'my-tools.mts',
      `import { writeFileSync } from 'node:fs'
import { tool } from ${JSON.stringify(tools)}
export const pay = tool({ name: 'pay', description: 'd', execute: () => writeFileSync(${JSON.stringify(mark)}, '') })
export default pay
export const note = 'no tool'
`,
    )
    const config = write('modules.json', { tools: { modules: ['./my-tools.mts'] } })
    const path = write('pay.json', playbook('pay'))
    const model = `scripted:${write('pay.yaml', says({ calls: [{ tool: 'pay', arguments: { to: 'env:HOME' } }] }, { text: 'paid' }))}`
    const args = ['run', path, '--config', config, '--model', model]
    const dry = await runLockstep(args, { cwd: folder, env: home().env })
    expect(dry.out).toContain('○ pay              to=env:HOME  not called · step 1/1 s')
    expect([dry.code, existsSync(mark)]).toEqual([0, false])
    await runLockstep([...args, '--mode', 'execute'], { cwd: folder, env: home().env })
    expect(existsSync(mark)).toBe(true)
  })
})
