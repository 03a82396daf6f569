import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { runLockstep } from './run-lockstep.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lockstep-tools-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, value: unknown): string {
  writeFileSync(join(folder, name), JSON.stringify(value))
  return name
}

describe('lockstep tools', () => {
  it('lists name, risk, origin and the playbooks that use each', async () => {
    const { code, out } = await runLockstep(['tools', 'refund-desk.yaml'], { cwd: examples })
    expect(code).toBe(0)
    expect(out.split('\n').slice(1)).toEqual([
      'TOOL              RISK                         ORIGIN                                                                       PLAYBOOKS',
      'open_ticket       write                        http POST https://helpdesk.example/api/customers/{args.customer_id}/tickets  -',
      'lookup_customer   read                         exec node                                                                    refund-desk',
      'lookup_order      read                         exec node                                                                    refund-desk',
      'get_order_status  read                         exec node                                                                    -',
      'validate_token    read                         exec node                                                                    -',
      'hand_over         write                        exec node                                                                    -',
      'refund            irreversible (not declared)  exec node                                                                    refund-desk',
      'notify_customer   write                        exec node                                                                    refund-desk',
      '8 tools',
      '',
    ])
  })

  it('tells programs the same, and names tools that nobody binds', async () => {
    const { code, out } = await runLockstep(['tools', 'deploy.json', 'refund-desk.yaml', '--json'], {
      cwd: examples,
    })
    expect(code).toBe(1)
    const { tools } = JSON.parse(out) as { tools: object[] }
    expect(tools).toContainEqual({
      name: 'refund',
      risk: 'irreversible',
      riskDeclared: false,
      origin: 'exec node',
      playbooks: ['refund-desk'],
    })
    expect(tools).toContainEqual({
      name: 'deploy',
      risk: 'unknown',
      riskDeclared: null,
      origin: null,
      playbooks: ['deploy'],
    })
  })

  it('finds playbooks below the working directory, and the configuration above it', async () => {
    const { code, out } = await runLockstep(['tools'], { cwd: examples })
    expect(code).toBe(0)
    expect(out).toContain('NOT BOUND')
    expect((await runLockstep(['tools'], { cwd: folder })).out).toBe(
      'No lockstep.config.yaml here or above.\n0 tools\n',
    )
  })

  it('refuses two tools of one name, and a module without tools', async () => {
    writeFileSync(join(folder, 'none.mjs'), 'export const x = 1')
    const none = write('none.json', { tools: { modules: ['none.mjs'] } })
    const { code, err } = await runLockstep(['tools', '--config', none], { cwd: folder })
    expect([code, err]).toEqual([1, expect.stringContaining('exports no tool')])
    expect((await runLockstep(['tools', '--config', 'x.yaml'], { cwd: folder })).err).toContain(
      'File not found',
    )
  })

  it('says that a file is not there, and which one was probably meant', async () => {
    const missing = await runLockstep(['tools', 'refund-dek.yaml'], { cwd: examples })
    expect([missing.code, missing.err]).toEqual([
      1,
      'lockstep: File not found: refund-dek.yaml, did you mean refund-desk.yaml?\n',
    ])
    const other = await runLockstep(['tools', 'nothing-like-it.yaml'], { cwd: folder })
    expect(other.err).toBe('lockstep: File not found: nothing-like-it.yaml\n')
    const directory = await runLockstep(['run', '.', '--model', 'me'], { cwd: folder })
    expect([directory.code, directory.err]).toEqual([1, 'lockstep: . is a directory, name a file in it\n'])
  })

  it('reads a configuration in TypeScript', async () => {
    const define = fileURLToPath(new URL('../../src/source/define-config.ts', import.meta.url))
    writeFileSync(
      join(folder, 'c.mts'),
      `import { defineConfig } from ${JSON.stringify(define)}
export default defineConfig({ tools: { exec: [{ name: 'a', description: 'd', command: ['true'], timeoutSeconds: 1 }] } })
`,
    )
    const { code, out } = await runLockstep(['tools', '--config', 'c.mts'], { cwd: folder })
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('a     irreversible (not declared)  exec true  -'),
    ])
  })
})

describe('lockstep check', () => {
  it.each([
    ['the program', ['{args.program}', '{args.argument}']],
    ['what a shell runs', ['env', 'sh', '-c', '{args.program}']],
  ])('warns of a tool whose arguments choose %s', async (_, command) => {
    write('lockstep.config.json', { tools: { exec: [{ name: 'helper', description: 'd', command }] } })
    const steps = [{ id: 's', description: 'd', expected_tools: ['helper'] }]
    write('p.json', { id: 'p', name: 'P', steps })
    const { code, out } = await runLockstep(['check', 'p.json', '--format', 'unix'], { cwd: folder })
    expect([code, out]).toEqual([0, expect.stringMatching(/warning open_dispatcher `helper` does whatever/)])
    const rules = [{ tool: 'helper', require: 'args.program in ["uptime", "df"]' }]
    write('p.json', { id: 'p', name: 'P', steps, rules })
    expect((await runLockstep(['check', 'p.json'], { cwd: folder })).out).toContain('no problems')
  })

  it('says so when the configuration could not be considered', async () => {
    writeFileSync(join(folder, 'lockstep.config.json'), '{"tolos": {}}')
    const { code, err } = await runLockstep(['check', 'p.json'], { cwd: folder })
    expect([code, err]).toEqual([0, expect.stringMatching(/not considered: .*did you mean `tools`/)])
  })
})
