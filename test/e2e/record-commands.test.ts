import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { exportCommand } from '../../src/cli/export-command.ts'
import { runsCommand } from '../../src/cli/runs-command.ts'
import { showCommand } from '../../src/cli/show-command.ts'
import { verifyCommand } from '../../src/cli/verify-command.ts'
import { runInProcess } from './run-in-process.ts'
import { runLockstep } from './run-lockstep.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lockstep-records-'))
const home = join(folder, 'home')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const started = (args: readonly string[], env: Record<string, string> = {}) =>
  runLockstep(args, { cwd: examples, env: { LOCKSTEP_HOME: home, ...env } })

const commands = { export: exportCommand, runs: runsCommand, show: showCommand, verify: verifyCommand }

async function lockstep([name, ...args]: readonly string[], env: Record<string, string> = {}) {
  vi.stubEnv('LOCKSTEP_HOME', env['LOCKSTEP_HOME'] ?? home)
  try {
    return await runInProcess(commands[name as keyof typeof commands], args)
  } finally {
    vi.unstubAllEnvs()
  }
}
const script = ['run', 'refund-desk.yaml', '--model', 'scripted:refund-desk.script.yaml']

interface Listed {
  readonly runs: readonly {
    run: string
    playbook: string
    status: string
    entries: number
    chained: boolean
  }[]
}

async function listed(): Promise<Listed['runs']> {
  return (JSON.parse((await lockstep(['runs', '--json'])).out) as Listed).runs
}

const named = async (chained: boolean) => (await listed()).find((each) => each.chained === chained)!.run

describe('the record on the command line', () => {
  beforeAll(async () => {
    const none = await lockstep(['runs'])
    expect(none.out).toBe('No run is recorded yet.\nNext: npx lockstep run FILE\n')
    expect((await started([...script, '--mode', 'execute'])).code).toBe(0)
    expect((await started([...script, '--mode', 'execute'], { LOCKSTEP_STORE: 'files' })).code).toBe(0)
    const other = await started(script, { LOCKSTEP_STORE: 'papyrus' })
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('LOCKSTEP_STORE is papyrus')])
  })

  it('lists runs of both stores', async () => {
    const runs = await listed()
    expect(runs).toHaveLength(2)
    expect(runs.map(({ chained }) => chained).toSorted()).toEqual([false, true])
    for (const { playbook, status } of runs) expect([playbook, status]).toEqual(['refund-desk', 'succeeded'])
    const { out } = await lockstep(['runs'])
    expect(out).toMatch(/^RUN +PLAYBOOK +STATUS +BEGUN +ENTRIES +CHAIN\n/)
    expect(out).toMatch(/Next: npx lockstep show r_/)
  })

  it('shows steps, calls, verdicts, reasons and outcomes', async () => {
    const run = await named(true)
    const { code, out } = await lockstep(['show', run.slice(0, 10)])
    expect(code).toBe(0)
    expect(out).toMatch(/✓ lookup_order +order_id=ORD-42 {2}allowed · step verify_order/)
    expect(out).toMatch(/✗ refund .*DENIED rule: .*at most the order's total/)
    expect(out).toMatch(/final answer sent back; left: notify/)
    expect(out).toMatch(new RegExp(`Next: npx lockstep verify ${run}\n$`))
  })

  it('verifies an export without the store, and proves it with what was kept elsewhere', async () => {
    const run = await named(true)
    const [file, checkpoint, key] = ['x.jsonl', 'x.checkpoint', 'x.pem'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    const proof = ['--checkpoint', checkpoint, '--public-key', key]
    const exported = await lockstep(['export', run, '-o', file, ...proof])
    expect(exported.out).toContain(
      `Next: npx lockstep verify ${file} --checkpoint ${checkpoint} --public-key ${key}`,
    )
    const elsewhere = { LOCKSTEP_HOME: join(folder, 'elsewhere') }
    const plain = await lockstep(['verify', file], elsewhere)
    expect([plain.code, plain.out.split(' ')[0]]).toEqual([0, 'consistent'])
    const proven = await lockstep(['verify', file, ...proof], elsewhere)
    expect([proven.code, proven.out.split(' ')[0]]).toEqual([0, 'proven'])
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('"amount":300', '"amount":301'))
    const broken = await lockstep(['verify', file, ...proof], elsewhere)
    expect(broken.code).toBe(5)
    expect(broken.out).toMatch(/^broken · r_\S+ entry \d+: its payload was changed.* \(edit\)\n/)
  })

  it('exports all runs so that a missing one shows', async () => {
    const file = join(folder, 'all.jsonl')
    expect((await lockstep(['export', '--all', '-o', file])).code).toBe(0)
    expect((await lockstep(['verify', file])).out).toContain('1 run opened, 1 closed, none missing')
    const run = await named(true)
    const lines = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, lines.filter((line) => !line.includes(`"run":"${run}","seq"`)).join('\n'))
    const { code, out } = await lockstep(['verify', file])
    expect(code).toBe(5)
    expect(out).toMatch(new RegExp(`^broken · ${run}: .* none is there \\(missing run\\)`))
  })

  it('says of a record without a chain what it cannot say', async () => {
    const run = await named(false)
    const { code, out } = await lockstep(['verify', run])
    expect(code).toBe(0)
    expect(out).toContain('That no entry was changed: this record was kept without a chain.')
    const refused = await lockstep(['export', run, '--checkpoint', join(folder, 'none.checkpoint')])
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('was kept without a chain')])
  })

  it('tells a forged decision in a file from one that follows', async () => {
    const run = await named(false)
    const path = join(home, 'runs', `${run}.jsonl`)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replaceAll('"amount":300', '"amount":3'))
    const { code, out } = await lockstep(['verify', run])
    writeFileSync(path, text)
    expect(code).toBe(5)
    expect(out).toMatch(/^broken · r_\S+ entry \d+: .*\(forged decision\)/)
  })

  it('escapes what a record says, and takes secrets out of views', async () => {
    const path = join(home, 'runs', 'r_odd.jsonl')
    const entry = (seq: number, type: string, data: object) =>
      `${JSON.stringify({ v: 1, run: 'r_odd', seq, at: seq, tenant: 't', principal: '\u001b[31mp', type, data })}\n`
    const token = `ghp_${'a1'.repeat(18)}`
    appendFileSync(
      path,
      entry(1, 'run.started', { playbook: 'sha256:none', inputs: { password: 'hunter2' } }),
    )
    appendFileSync(path, entry(2, 'model.answered', { text: `\u001b[2J\u202e use ${token}`, calls: [] }))
    const shown = await lockstep(['show', 'r_odd'])
    const json = await lockstep(['show', 'r_odd', '--json'])
    rmSync(path)
    for (const { code, out } of [shown, json]) {
      expect(code).toBe(0)
      expect(out).not.toContain(token)
      expect(out).not.toContain('hunter2')
      expect(out).not.toContain('\u001b')
    }
    expect(shown.out).toContain('\\u001b[2J\\u202e use [redacted]')
  })

  it('writes an archive for auditors that says if a run is missing, and proves it', async () => {
    const [file, checkpoint, key] = ['all.zip', 'all.checkpoint', 'all.pem'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    const proof = ['--checkpoint', checkpoint, '--public-key', key]
    const exported = await lockstep(['export', '--from', '2020-01-01', '-o', file, ...proof])
    expect(exported.out).toMatch(
      /^1 run opened, 1 closed, none missing · 0 approvals · 1 exception\n\d+ entries written/,
    )
    const proven = await lockstep(['verify', file, ...proof], { LOCKSTEP_HOME: join(folder, 'elsewhere') })
    expect([proven.code, proven.out]).toEqual([
      0,
      expect.stringMatching(/^proven · .* decisions recomputed\n1 run opened, 1 closed, none missing/),
    ])
    const bytes = readFileSync(file)
    for (let at = 0; at < bytes.length; at += 997) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      writeFileSync(file, changed)
      const { code, out, err } = await lockstep(['verify', file])
      expect([at, code, out], err).toEqual([at, 5, expect.stringMatching(/^broken · /)])
    }
    const none = await lockstep(['export', '--to', '2020-01-01', '-o', file])
    expect(none.out).toMatch(/^0 runs opened, 0 closed, none missing · 0 approvals · 0 exceptions\n/)
    expect((await lockstep(['verify', file])).code).toBe(0)
  })

  it('writes one run as a page that needs nothing else', async () => {
    const { code, out } = await lockstep(['export', await named(true), '--html'])
    expect(code).toBe(0)
    expect(out).toContain(`content="default-src 'none'`)
    expect(out).not.toMatch(/<script|<img|<link|https?:/)
    expect(out).toContain('denied rule')
  })

  it('answers wrong use with what would be right', async () => {
    const unknown = await lockstep(['show', 'r_nobody'])
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringContaining('see which there are: lockstep runs'),
    ])
    const file = join(folder, 'no.pem')
    writeFileSync(file, 'no key')
    const noKey = await lockstep(['verify', await named(true), '--public-key', file])
    expect([noKey.code, noKey.err]).toEqual([2, expect.stringContaining('holds no public key')])
    const noCheckpoint = await lockstep(['verify', await named(true), '--checkpoint', file])
    expect([noCheckpoint.code, noCheckpoint.err]).toEqual([2, expect.stringContaining('holds no checkpoint')])
    const junk = join(folder, 'junk.jsonl')
    writeFileSync(junk, 'junk\n')
    const noExport = await lockstep(['verify', junk])
    expect([noExport.code, noExport.err]).toEqual([2, expect.stringContaining('is no export of Lockstep')])
    const wrong = [
      ['export'],
      ['export', 'r_1', '--all'],
      ['export', '--from', 'yesterday'],
      ['export', '--from', '2026-02-30'],
      ['export', '--from', '2026-10-02', '--to', '2026-10-01'],
      ['export', '--all', '--html'],
    ]
    for (const args of wrong) expect([args, (await lockstep(args)).code]).toEqual([args, 2])
  })
})
