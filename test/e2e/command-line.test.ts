import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { lockstepProgram } from '../built-programs.ts'
import { runHere } from './run-here.ts'
import { exitCode } from '../../src/cli/exit-code.ts'

/** The sources, as a checkout runs them; the other tests run what was built of them, which starts sooner. */
const checkout = fileURLToPath(new URL('../../bin/lockstep.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lockstep-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '1', ...env },
  })
  return { code: status, out: stdout, err: stderr }
}

const lockstep = (...args: string[]) => start(lockstepProgram, args)
/** The same without a process of its own. */
const here = (...args: string[]) => runHere(args, { cwd: folder })

function write(name: string, text: string): string {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), text)
  return name
}

const good = 'id: a\nname: A\nsteps: []\n'
const bad = 'id: a\nname: A\nsteps:\n  - id: s\n    description: d\n    expected_tool: [x]\n'

describe('lockstep', () => {
  it('explains itself', () => {
    for (const args of [['--help'], ['help'], ['-h']]) {
      expect(lockstep(...args)).toMatchObject({ code: 0, out: expect.stringContaining('check'), err: '' })
    }
    expect(lockstep()).toMatchObject({ code: exitCode.usage, out: '', err: expect.stringContaining('Usage') })
  })

  it.each(['check', 'init', 'demo'])('explains %s in both ways of asking', (name) => {
    const { code, out } = lockstep('help', name)
    expect(code).toBe(0)
    expect(out).toContain(`Usage: lockstep ${name}`)
    expect(lockstep(name, '--help').out).toBe(out)
  })

  it.skipIf(process.platform !== 'linux')('says so when its output cannot be written', () => {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [lockstepProgram, 'help'], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    })
    closeSync(full)
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^lockstep: the output cannot be written: ENOSPC.*\n$/),
    ])
  })

  it('tells its version', () => {
    expect(lockstep('--version').out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('runs its sources in a checkout', () => {
    const { code, out } = start(checkout, ['check', write('bad.yaml', bad)])
    expect([code, out]).toEqual([exitCode.failed, expect.stringContaining('did you mean `expected_tools`?')])
    expect(start(checkout, ['--version'])).toEqual(lockstep('--version'))
  })

  it('keeps what Node made of it in the data folder, and makes no data folder for that', () => {
    const home = join(folder, 'data')
    const env = { LOCKSTEP_HOME: home, NODE_COMPILE_CACHE: undefined }
    expect(start(lockstepProgram, ['--version'], env).code).toBe(0)
    expect(existsSync(home)).toBe(false)
    mkdirSync(home)
    expect(start(lockstepProgram, ['--version'], env).code).toBe(0)
    expect(readdirSync(home)).toEqual(['cache'])
    writeFileSync(join(home, 'file'), '')
    const broken = { ...env, LOCKSTEP_HOME: join(home, 'file') }
    expect(start(lockstepProgram, ['--version'], broken)).toMatchObject({ code: 0, err: '' })
  })

  it.each([
    [['chekc', 'x'], /unknown command chekc, did you mean check\?/],
    [['--hlep'], /unknown option --hlep, did you mean --help\?/],
    [['check', '--fromat', 'json', 'a'], /unknown option --fromat, did you mean --format\?/],
    [['check', '--format', 'jsn', 'a'], /unknown value for --format: jsn, did you mean json\?/],
    [['check', '--format'], /--format needs a value: pretty, unix, json, github/],
    [['check'], /at least one file/],
    [['init', 'a.yaml', 'b.yaml'], /one file/],
    [['init', 'a.json'], /writes YAML/],
    [['init', '--force'], /unknown option --force/],
    [['help', 'nothing'], /unknown command nothing/],
  ])('answers %j with exit code 2 and what was meant', async (args, message) => {
    const { code, out, err } = await here(...args)
    expect([code, out]).toEqual([exitCode.usage, ''])
    expect(err).toMatch(message)
  })

  it('leads to the help of the command that was called', async () => {
    expect(lockstep('check', '--fromat', 'json').err).toContain('Run `lockstep help check` to see')
    expect((await here('chekc')).err).toContain('Run `lockstep help` to see')
    expect((await here('run', '')).err).toMatch(/an argument is empty\nRun `lockstep help run`/)
    expect((await here('run', 'a.yaml', '--model', '')).err).toContain('--model needs a value')
  })
})

describe('lockstep check', () => {
  it('says so when there is nothing to say', async () => {
    expect(await here('check', write('good.yaml', good))).toEqual({
      code: 0,
      out: '1 playbook checked, no problems\n',
      err: '',
    })
  })

  it('quotes the line and marks the place', () => {
    const { code, out } = lockstep('check', write('bad.yaml', bad))
    expect(code).toBe(exitCode.failed)
    expect(out).toBe(`bad.yaml:6:5 error unknown_key
  unknown key \`expected_tool\` in step \`s\`
  6 |     expected_tool: [x]
    |     ^^^^^^^^^^^^^
  help: did you mean \`expected_tools\`?

1 playbook checked, 1 error, 0 warnings
`)
  })

  it('speaks to editors, GitHub and programs; the summary goes beside', () => {
    write('bad.yaml', bad)
    expect(lockstep('check', 'bad.yaml', '--format', 'unix')).toMatchObject({
      out: 'bad.yaml:6:5: error unknown_key unknown key `expected_tool` in step `s`, did you mean `expected_tools`?\n',
      err: '1 playbook checked, 1 error, 0 warnings\n',
    })
    expect(lockstep('check', '--format=github', 'bad.yaml').out).toMatch(
      /^::error file=bad\.yaml,line=6,col=5,/,
    )
    expect(JSON.parse(lockstep('check', 'bad.yaml', '--format', 'json').out)).toMatchObject({
      playbooks: 1,
      errors: 1,
      warnings: 0,
      skipped: [],
      diagnostics: [{ code: 'unknown_key', file: 'bad.yaml', line: 6 }],
    })
  })

  it('passes when there are only warnings', async () => {
    const { code, out } = await here('check', write('warn.yaml', `${good}max_extra_calls: 1\n`))
    expect(code).toBe(0)
    expect(out).toContain('0 errors, 1 warning')
  })

  it('walks directories, past hidden ones, node_modules and links, and skips aloud what is no playbook', async () => {
    write('tree/a/one.yaml', good)
    write('tree/two.yml', good)
    write('tree/three.json', '{"id":"a","name":"A"}')
    write('tree/package.json', '{"name":"x"}')
    write('tree/broken.json', '{ // a comment\n "compilerOptions": {} }')
    write('tree/values.yaml', 'list:\n  - {{ template }}\n')
    write('tree/notes.txt', 'x')
    write('tree/.git/four.yaml', bad)
    write('tree/node_modules/five.yaml', bad)
    symlinkSync('..', join(folder, 'tree/a/up'))
    expect(await here('check', 'tree')).toEqual({
      code: 0,
      out: '3 playbooks checked, no problems (3 other files skipped: no `id` and no `steps`)\n',
      err: '',
    })
  })

  it('does not pass over a playbook in a directory because it is broken', async () => {
    write('half/a.yaml', 'id: a\nsteps: [\n')
    write('half/b.json', '{\n  "id": "a",,\n}')
    const { code, out } = await here('check', 'half', '--format', 'unix')
    expect(code).toBe(exitCode.failed)
    expect(out).toMatch(/invalid_yaml/)
    expect(out).toMatch(/invalid_json/)
  })

  it('fails on a directory without any playbook, and on a missing file', async () => {
    write('none/package.json', '{}')
    expect(await here('check', 'none')).toMatchObject({
      code: exitCode.failed,
      out: expect.stringContaining('there is no playbook in this directory'),
    })
    expect(await here('check', 'absent.yaml')).toMatchObject({
      code: exitCode.failed,
      out: expect.stringContaining('not found'),
    })
  })

  it('writes neither colours nor control characters when piped', () => {
    const { out } = lockstep('check', write('evil.yaml', `id: a\nname: "\\e[2J"\n"\\e]0;x\\a": 1\n`))
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  })

  it('ends quietly when the reader goes away', async () => {
    write(
      'many.yaml',
      `id: a\nname: A\n${Array.from({ length: 5000 }, (_, index) => `key${index}: 1`).join('\n')}\n`,
    )
    const child = spawn(process.execPath, [lockstepProgram, 'check', 'many.yaml', '--format', 'unix'], {
      cwd: folder,
    })
    let err = ''
    child.stderr.on('data', (data: Buffer) => (err += data.toString()))
    child.stdout.once('data', () => child.stdout.destroy())
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect(code).toBe(exitCode.failed)
    expect(err).not.toMatch(/EPIPE|Error:/)
  })

  it('shows the first problems of a file that has very many', async () => {
    write(
      'many.yaml',
      `id: a\nname: A\n${Array.from({ length: 500 }, (_, index) => `key${index}: 1`).join('\n')}\n`,
    )
    expect((await here('check', 'many.yaml')).out).toContain('... and 450 more in this file')
  })
})

describe('lockstep init', () => {
  it('writes a playbook that passes check, and says what is next', async () => {
    const { code, out } = await here('init', 'first.yaml')
    expect(code).toBe(0)
    expect(out).toContain('npx lockstep check first.yaml')
    expect(await here('check', 'first.yaml')).toEqual({
      code: 0,
      out: '1 playbook checked, no problems\n',
      err: '',
    })
    expect((await here('init')).out).toContain('Wrote playbook.yaml')
  })

  it('writes a runbook that passes check where its tools are known', async () => {
    write('lockstep.config.yaml', 'practice: true\n')
    expect((await here('init', '--runbook')).out).toContain('Wrote runbook.yaml')
    expect(await here('check', 'runbook.yaml')).toEqual({
      code: 0,
      out: '1 playbook checked, no problems\n',
      err: '',
    })
    expect((await here('explain', 'runbook.yaml')).out).toMatch(
      /2 Rollback: .* asks a person · practice\.rollback \(irreversible\)/,
    )
    rmSync(join(folder, 'lockstep.config.yaml'))
  })

  it('never overwrites', () => {
    write('mine.yaml', 'mine')
    const { code, err } = lockstep('init', 'mine.yaml')
    expect(code).toBe(exitCode.failed)
    expect(err).toMatch(/mine\.yaml exists, it was left as it is/)
    expect(readFileSync(join(folder, 'mine.yaml'), 'utf8')).toBe('mine')
  })

  it('says when there is no directory to write to', async () => {
    expect(await here('init', 'no/such/a.yaml')).toMatchObject({
      code: exitCode.failed,
      err: expect.stringContaining('no directory'),
    })
  })
})
