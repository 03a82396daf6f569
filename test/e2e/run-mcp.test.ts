import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { deskProgram, lockstepProgram } from '../built-programs.ts'
import { runLockstep } from './run-lockstep.ts'

const root = mkdtempSync(join(tmpdir(), 'lockstep-run-mcp-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'))
  const steps = ['lookup_customer', 'lookup_order', 'refund', 'notify_customer'].map((name) => ({
    id: name,
    description: name,
    expected_tools: [`desk/${name}`],
  }))
  write('p.json', { id: 'p', name: 'P', steps })
  const calls = [
    ['lookup_customer', { customer_id: 'C-7' }],
    ['lookup_order', { order_id: 'ORD-42' }],
    ['refund', { order_id: 'ORD-42', customer_id: 'C-7', amount: 30 }],
    ['notify_customer', { customer_id: 'C-7', message: 'Refunded.' }],
  ].map(([tool, args]) => ({ calls: [{ tool: `desk/${tool as string}`, arguments: args }] }))
  write('s.yaml', { turns: [...calls, { text: 'Done.' }, { text: 'Done.' }, { text: 'Done.' }] })
  serve('')
})

function write(name: string, value: unknown): void {
  writeFileSync(join(folder, name), JSON.stringify(value))
}

function serve(mode: string, env: object = {}, more: object = {}, config: object = {}): void {
  const desk = {
    command: process.execPath,
    args: [deskProgram],
    env: { DESK_MODE: mode, DESK_LOG: join(folder, 'log'), ...env },
    tools: { lookup_customer: { risk: 'read' }, lookup_order: { risk: 'read' } },
    ...more,
  }
  write('lockstep.config.json', { mcpServers: { desk }, ...config })
}

const script = ['--model', 'scripted:s.yaml']
const lockstep = (...args: string[]) =>
  runLockstep(args, { cwd: folder, env: { LOCKSTEP_HOME: join(folder, 'home') } })
const run = (...args: string[]) => lockstep('run', 'p.json', ...script, ...args)
const done = () => {
  if (!existsSync(join(folder, 'log'))) return []
  const lines = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')
  return lines.map((line) => (JSON.parse(line) as { name: string }).name)
}

describe('lockstep run with an MCP server', () => {
  it('holds the calls to the playbook, and makes them', async () => {
    const { code, out, err } = await run('--mode', 'execute')
    expect([code, err], out).toEqual([0, ''])
    expect(out).toContain('✓ desk/refund')
    expect(done()).toEqual(['lookup_customer', 'lookup_order', 'refund', 'notify_customer'])
  })

  it('says in a dry run that it starts the server, and calls none of its tools', async () => {
    const { code, out, err } = await run()
    expect([code, err], out).toEqual([
      0,
      "DRY RUN: starts the MCP server 'desk' to list its tools; none of them is called.\n",
    ])
    expect(out).toMatch(/^succeeded · 0 made, 4 shown/m)
    expect(done()).toEqual([])
  })

  it('calls only what is declared to read where a dry run may', async () => {
    serve('', {}, {}, { dry_run: { call_reads: true } })
    const { err } = await run()
    expect(err).toContain('only those that are declared to read are called')
    expect(done()).toEqual(['lookup_customer', 'lookup_order'])
  })

  it('runs no program for a secret in a dry run, and starts no server that needs one', async () => {
    const mark = join(folder, 'asked')
    const print = `require('node:fs').writeFileSync(${JSON.stringify(mark)}, ''); console.log('a-secret')`
    // A reference holds no braces, so the program lies in a file.
    writeFileSync(join(folder, 'secret.cjs'), print)
    serve('', { DESK_TOKEN: [`exec:${process.execPath}`, 'secret.cjs'] })
    const { code, out, err } = await run()
    expect(code, out + err).toBe(0)
    expect(err).toContain("DRY RUN: the MCP server 'desk' is not started")
    expect(out).toMatch(/^succeeded · 0 made, 4 shown/m)
    expect([existsSync(mark), done()]).toEqual([false, []])
    expect((await run('--mode', 'execute')).code).toBe(0)
    expect([existsSync(mark), done().length]).toEqual([true, 4])
  })

  it('keeps the secret of a server out of everything it says', async () => {
    writeFileSync(join(folder, 'token'), 'planted-desk-token-4711\n')
    serve('leak', { DESK_TOKEN: 'file:token' })
    const { code, out } = await run('--mode', 'execute', '--json')
    expect(code).toBe(0)
    expect(out).toContain('[secret]')
    expect(out).not.toContain('planted-desk-token')
  })

  it.each([
    ['dies in the middle', 'die', /desk\/refund .*UNKNOWN: The MCP server 'desk' gave no usable answer/],
    ['answers garbage', 'garbage', /desk\/refund .*UNKNOWN: The MCP server 'desk' gave no usable answer/],
    ['complains', 'complain', /desk\/refund .*UNKNOWN: .*the till is stuck/],
  ])('does not repeat a call to a server that %s, and says how to go on', async (_, mode, message) => {
    serve(mode)
    const { code, out } = await run('--mode', 'execute')
    expect(code).toBe(1)
    expect(out).toMatch(message)
    expect(out).toMatch(/^paused · 2 done/m)
    const next = /then: npx lockstep (resume \S+ --settle \S+=succeeded)/.exec(out)
    expect(next, out).not.toBeNull()
    expect(done()).toEqual(['lookup_customer', 'lookup_order', 'refund'])
    // Somebody looked: the refund did go out. The server is well again.
    serve('')
    const call = { tool: 'desk/notify_customer', arguments: { customer_id: 'C-7', message: 'Refunded.' } }
    write('rest.yaml', { turns: [{ calls: [call] }, { text: 'Done.' }] })
    const resumed = await lockstep(...next![1]!.split(' '), '--model', 'scripted:rest.yaml')
    expect(resumed.code, resumed.out + resumed.err).toBe(0)
    expect(done()).toEqual(['lookup_customer', 'lookup_order', 'refund', 'notify_customer'])
  })

  it.each([
    ['is not there', { command: join('no', 'such', 'server') }],
    ['ends at once', { args: ['-e', 'process.exit(3)'] }],
    ['speaks something else', { args: ['-e', 'console.log("hello"); process.exit(0)'] }],
  ])('does not begin with a server that %s', async (_, more) => {
    serve('', {}, more)
    const { code, out, err } = await run('--mode', 'execute')
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^lockstep: The MCP server 'desk' could not be used \(.*\. Start it by hand/s)
  })

  it('ends at once on Ctrl-C while a server is being started, and begins no run', async () => {
    const mark = join(folder, 'up')
    writeFileSync(
      join(folder, 'mute.cjs'),
      `require('node:fs').writeFileSync(${JSON.stringify(mark)}, ''); process.stdin.resume()`,
    )
    serve('', {}, { args: ['mute.cjs'] })
    const child = spawn(
      process.execPath,
      [lockstepProgram, 'run', 'p.json', ...script, '--mode', 'execute'],
      {
        cwd: folder,
        env: { ...process.env, LOCKSTEP_HOME: join(folder, 'home') },
      },
    )
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    await expect.poll(() => existsSync(mark)).toBe(true)
    child.kill('SIGINT')
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect([code, err]).toEqual([1, '\nStopped before the run was begun.\n'])
    expect(readdirSync(join(folder, 'home', 'runs'))).toEqual([])
  })

  it('lets a person call its tools by the names they have', async () => {
    const stdin = 'desk/lookup_customer customer_id=C-7\nfail_step error="enough"\n'
    const { out } = await runLockstep(['run', 'p.json', '--model', 'me', '--mode', 'execute'], {
      cwd: folder,
      env: { LOCKSTEP_HOME: join(folder, 'home') },
      stdin,
    })
    expect(out).toContain('✓ desk/lookup_customer')
    expect(done()).toEqual(['lookup_customer'])
  })
})

describe('lockstep tools with an MCP server', () => {
  it('lists its tools with the risk the configuration gives them', async () => {
    const { code, out } = await lockstep('tools', 'p.json')
    expect(code).toBe(0)
    const rows = out.split('\n')
    expect(rows).toContainEqual(expect.stringMatching(/^desk\/lookup_order +read +mcp desk +p$/))
    expect(rows).toContainEqual(
      expect.stringMatching(/^desk\/refund +irreversible \(not declared\) +mcp desk +p$/),
    )
    expect(done()).toEqual([])
  })

  it('says which server cannot be used', async () => {
    serve('', {}, { args: ['-e', 'process.exit(3)'] })
    const { code, out, err } = await lockstep('tools')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain("The MCP server 'desk' could not be used")
  })
})
