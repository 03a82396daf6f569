import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openChainStore, openEngine } from '../app.ts'
import { loadSettings } from '../source/load-settings.ts'
import { writeServerNote } from '../source/server-note.ts'
import { configCommand } from './config-command.ts'
import { doctorCommand } from './doctor-command.ts'
import { examine, examineNode, type Finding } from './examine.ts'
import { statusCommand } from './status-command.ts'

const hasGit = spawnSync('git', ['--version']).status === 0
if (!hasGit) console.warn('skipped: git is not there, so no checkout is looked at')

const base = mkdtempSync(join(tmpdir(), 'lockstep-doctor-'))
const saved = { ...process.env }
afterAll(() => rmSync(base, { recursive: true }))
afterEach(() => void (process.env = { ...saved }))

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(base, 'h-'))
  process.env['LOCKSTEP_HOME'] = home
})

async function findings(
  env: Record<string, string> = {},
  now = Date.now(),
): Promise<Record<string, Finding>> {
  const { settings, shown } = loadSettings({ env: { LOCKSTEP_HOME: home, LOCKSTEP_PORT: '0', ...env } })
  const store = String(shown.find(({ key }) => key === 'store')!.value)
  return Object.fromEntries((await examine(settings, store, now)).map((each) => [each.what, each]))
}

async function aRun(at: number): Promise<void> {
  const store = await openChainStore(home)
  const author = { tenant: 'local', principal: 'ann' }
  await store.append('r_1', [{ at, type: 'run.started', data: {} }], { expectedSeq: 0, ...author })
  await store.close()
}

async function said(command: typeof statusCommand, args: string[]): Promise<{ code: number; out: string }> {
  let out = ''
  const code = await command.run(args, {
    out: (text) => void (out += text),
    err: () => undefined,
    colour: false,
  })
  return { code, out }
}

describe('the doctor', () => {
  it('finds nothing wrong with a fresh folder, and leaves it as it is', async () => {
    const all = Object.values(await findings())
    expect(all.filter(({ verdict }) => verdict === 'failed')).toEqual([])
    expect(readdirSync(home)).toEqual([])
  })

  it('knows which Node is too old', () => {
    expect(
      ['20.19.1', '22.17.9', '22.18.0', '24.0.0'].map((version) => examineNode(version).verdict),
    ).toEqual(['failed', 'failed', 'ok', 'ok'])
  })

  it('sees a clock that is before the last entry, keys that others can read, and keys that are gone', async () => {
    const at = Date.UTC(2030, 0, 1)
    await aRun(at)
    expect((await findings({}, at)).clock?.verdict).toBe('ok')
    expect((await findings({}, at - 1)).clock).toMatchObject({
      verdict: 'failed',
      says: expect.stringContaining('2030-01-01'),
      remedy: expect.stringContaining('set the clock'),
    })
    if (process.platform !== 'win32') {
      chmodSync(join(home, 'keys', '0001.json'), 0o644)
      expect((await findings()).keys).toMatchObject({
        verdict: 'failed',
        remedy: expect.stringContaining('chmod 600'),
      })
    }
    rmSync(join(home, 'keys'), { recursive: true })
    expect((await findings()).keys).toMatchObject({
      verdict: 'failed',
      remedy: expect.stringContaining('restore'),
    })
  })

  it('says so when the store is none, when its form is not known, and when runs go to files', async () => {
    writeFileSync(
      join(home, 'journal.db'),
      'no database at all, but long enough to be taken for one'.repeat(40),
    )
    expect((await findings()).store).toMatchObject({
      verdict: 'failed',
      says: expect.stringContaining('no database'),
    })
    expect((await findings({ LOCKSTEP_STORE: 'files' })).store).toMatchObject({
      remedy: 'unset LOCKSTEP_STORE',
    })
  })

  it('says who has the port, and the engine', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
    const port = String((other.address() as AddressInfo).port)
    expect((await findings({ LOCKSTEP_PORT: port })).port).toMatchObject({
      verdict: 'failed',
      remedy: expect.stringContaining('--port'),
    })
    const opened = await openEngine(home, { load: () => Promise.reject(new Error('none')) })
    expect((await findings()).engine).toMatchObject({
      verdict: 'note',
      says: `process ${process.pid} works on the store`,
    })
    writeServerNote(home, {
      pid: process.pid,
      url: `http://127.0.0.1:${port}`,
      since: '2030-01-01T00:00:00.000Z',
    })
    const both = await findings({ LOCKSTEP_PORT: port })
    expect([both['engine']?.verdict, both['port']?.says]).toEqual([
      'ok',
      `127.0.0.1:${port} is our own server, process ${process.pid}`,
    ])
    await opened!.close()
    await new Promise((resolve) => other.close(resolve))
  })

  it('wants the key of the provider, a file for a scripted model, and TLS for other machines', async () => {
    delete process.env['OPENAI_API_KEY']
    expect((await findings({ LLM_PROVIDER: 'openai' })).model).toMatchObject({
      verdict: 'failed',
      remedy: expect.stringContaining('OPENAI_API_KEY'),
    })
    process.env['OPENAI_API_KEY'] = 'sk-x'
    expect((await findings({ LLM_PROVIDER: 'openai' })).model?.verdict).toBe('ok')
    expect((await findings({ LOCKSTEP_MODEL: `scripted:${home}/none.yaml` })).model?.verdict).toBe('failed')
    const wide = { LOCKSTEP_HOST: '0.0.0.0' }
    expect((await findings(wide)).address?.verdict).toBe('note')
    expect((await findings({ ...wide, LOCKSTEP_PUBLIC_URL: 'https://a.example' })).address?.verdict).toBe(
      'ok',
    )
  })

  it.skipIf(!hasGit)('looks at the checkout', async () => {
    const folder = join(home, 'books')
    mkdirSync(folder)
    expect((await findings({ LOCKSTEP_FROM: folder })).checkout?.verdict).toBe('failed')
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        [
          '-C',
          folder,
          '-c',
          'user.name=T',
          '-c',
          'user.email=t@t.example',
          '-c',
          'commit.gpgsign=false',
          ...args,
        ],
        {
          stdio: 'ignore',
        },
      )
    git('init')
    writeFileSync(join(folder, 'a.yaml'), 'id: a\n')
    git('add', '.')
    git('commit', '-m', 'a')
    expect((await findings({ LOCKSTEP_FROM: folder })).checkout?.verdict).toBe('ok')
  })

  it('fails as a command when something does, and goes on with the rest', async () => {
    process.env['LOCKSTEP_RATE_LIMIT_BURST'] = 'many'
    process.env['LOCKSTEP_PORT'] = '0'
    const { code, out } = await said(doctorCommand, ['--json'])
    const told = JSON.parse(out) as { ok: boolean; findings: Finding[] }
    expect([code, told.ok]).toEqual([1, false])
    expect(told.findings[0]).toMatchObject({ what: 'settings', verdict: 'failed' })
    expect(told.findings.map(({ what }) => what)).toContain('clock')
  })
})

describe('lockstep status', () => {
  it('says what there is, and makes nothing where there is nothing', async () => {
    const { code, out } = await said(statusCommand, [])
    expect([code, out]).toEqual([0, expect.stringContaining('Engine: no process has it')])
    expect(readdirSync(home)).toEqual([])
  })

  it('says who works, on what, and whether it is halted', async () => {
    await aRun(1)
    const opened = await openEngine(home, { load: () => Promise.reject(new Error('none')) })
    await opened!.engine.halt('ann', 'wrong region')
    const { out } = await said(statusCommand, ['--json'])
    expect(JSON.parse(out)).toMatchObject({
      engine: { pid: process.pid, server: null },
      openRuns: ['r_1'],
      runsAtWork: [],
      halted: { by: 'ann', reason: 'wrong region' },
    })
    await opened!.close()
  })
})

describe('lockstep config', () => {
  it('shows where a value comes from, and no secret', async () => {
    process.env['OPENAI_API_KEY'] = 'sk-hushed'
    const { out } = await said(configCommand, ['--port', '9001', '--no-samples'])
    expect(out).toMatch(/^port +9001 +flag --port$/m)
    expect(out).toMatch(/^samples +false +flag --no-samples$/m)
    expect(out).toMatch(/^home +\S+ +environment LOCKSTEP_HOME$/m)
    expect(out).not.toContain('hushed')
  })
})
