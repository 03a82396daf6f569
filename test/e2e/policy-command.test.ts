import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { runHere } from './run-here.ts'
import { runLockstep } from './run-lockstep.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lockstep-policy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const policy = (args: readonly string[], cwd = folder) => runHere(['policy', ...args], { cwd })

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

describe('lockstep policy check', () => {
  it('finds nothing wrong with the examples, and passes over their cases', async () => {
    const found = { code: 0, out: '3 policies checked, no problems\n', err: '' }
    expect(await policy(['check', 'examples/policies'], root)).toEqual(found)
    expect(await runLockstep(['policy', 'check', 'examples/policies'], { cwd: root })).toEqual(found)
  })

  it('shows a problem with its line and what to do about it', async () => {
    const file = write('wrong.yaml', 'id: p\npreconditons:\n  - { then: block }\n')
    const { code, out } = await policy(['check', file])
    expect(code).toBe(1)
    expect(out).toContain('preconditons:')
    expect(out).toContain('did you mean `preconditions`?')
    expect(out).toContain('1 policy checked, 1 error, 0 warnings')
    expect((await policy(['check', file, '--format', 'unix'])).out).toBe(
      'wrong.yaml:2:1: error unknown_key unknown key `preconditons` in the policy, did you mean `preconditions`?\n',
    )
    expect(JSON.parse((await policy(['check', file, '--format', 'json'])).out)).toMatchObject({
      policies: 1,
      errors: 1,
      diagnostics: [{ code: 'unknown_key', line: 2 }],
    })
  })

  it('knows the tools of a configuration', async () => {
    const config = write(
      'lockstep.config.yaml',
      'tools:\n  exec:\n    - { name: refund, description: Refunds., command: [node, x.mjs] }\n',
    )
    const file = write('tools.yaml', 'id: p\nrules: [{ tool: refnd, require: args.x == 1 }]\n')
    expect((await policy(['check', file])).code).toBe(0)
    const { code, out } = await policy(['check', file, '--config', config])
    expect(code).toBe(1)
    expect(out).toContain('did you mean `refund`?')
  })

  it('fails where there is nothing to check', async () => {
    expect(await policy(['check', 'nowhere.yaml'])).toMatchObject({ code: 1 })
    expect(await policy(['check'])).toMatchObject({ code: 2 })
    expect((await policy(['check', 'docs/decisions'], root)).out).toContain(
      'there is no policy in this directory',
    )
  })
})

describe('lockstep policy test', () => {
  it('finds the cases of the examples as expected', async () => {
    const { code, out } = await policy(['test', 'examples/policies'], root)
    expect(out).toMatch(/^\d+ cases: \d+ as expected, 0 not\n$/)
    expect(code).toBe(0)
  })

  it('shows what differs, and why it came out so', async () => {
    write('p.yaml', 'id: p\npreconditions: [{ id: no, then: block, message: Not today. }]\n')
    const cases = write(
      'p.cases.yaml',
      'policy: p.yaml\ncases:\n  - { name: it may, request: { tool: x }, expect: { verdict: allow } }\n',
    )
    const { code, out } = await policy(['test', cases])
    expect(code).toBe(1)
    expect(out).toContain('FAILED p.cases.yaml: it may\n  verdict: expected allow, got deny\n')
    expect(out).toContain('preconditions.no denies it: Not today.\n')
    expect(out).toContain('1 case: 0 as expected, 1 not\n')
  })

  it('fails cases whose policy has errors, and files that are no cases', async () => {
    write('bad.yaml', 'id: p\nrules: [{ require: nope }]\n')
    const cases = write(
      'bad.cases.yaml',
      'policy: bad.yaml\ncases:\n  - { name: a, expect: { verdict: deny } }\n',
    )
    const { code, out } = await policy(['test', cases])
    expect(code).toBe(1)
    expect(out).toContain('nope')
    expect(out).toContain('its policy has errors')
    const wrong = write('wrong.cases.yaml', 'cases:\n  - { name: a, expects: {} }\n')
    expect((await policy(['test', wrong])).out).toContain('did you mean `expect`?')
    expect((await policy(['test', 'docs'], root)).code).toBe(1)
  })
})

describe('lockstep policy explain', () => {
  it('says what it takes as nothing, because only other runs know it', async () => {
    const limits = 'limits: [{ id: hourly, tool: x, max_calls: 1, per: 1h }]'
    const args = ['explain', write('wide.yaml', `id: wide\n${limits}\n`), '--call', 'x', '--risk', 'read']
    const note = 'Not known, and taken as nothing so far: limits.hourly of wide (tenant).'
    const { code, out } = await policy(args)
    expect(code).toBe(0)
    expect(out).toContain(note)
    const facts = write('facts.yaml', 'counters: { limits.hourly: { targets: [], calls: 1 } }\n')
    const told = await policy([...args, '--facts', facts])
    expect(told.code).toBe(1)
    expect(told.out).not.toContain(note)
  })

  const ask = (...more: string[]) =>
    policy(
      ['explain', 'examples/policies/production.yaml', '--call', 'k8s.scale', '--role', 'SRE', ...more],
      root,
    )

  it('says why, and tells the verdict by its exit code', async () => {
    const at = ['--at', '2026-11-17T10:00:00Z', '--context', '{"env":"prod"}']
    const asked = await ask(...at)
    expect(asked.code).toBe(4)
    expect(asked.out).toContain('NEEDS APPROVAL (policy_risk) by production@1.2.0, risk.irreversible')
    expect(asked.out).toContain('to approve: 1 × OnCall or Lead')
    expect((await ask(...at, '--risk', 'write')).code).toBe(0)
    const frozen = await ask('--at', '2026-11-21T10:00:00Z', '--risk', 'write', '--json')
    expect(frozen.code).toBe(1)
    expect(JSON.parse(frozen.out)).toMatchObject({
      decision: { code: 'policy_freeze', rule: 'freeze.weekend' },
    })
  })

  it('takes more facts from a file', async () => {
    const facts = write('facts.yaml', 'at: 2026-11-17T10:00:00Z\nspent: { run: { cost_usd: 3 } }\n')
    const { code, out } = await ask('--facts', join(folder, facts), '--risk', 'read')
    expect(code).toBe(1)
    expect(out).toContain('DENIED (policy_budget)')
  })

  it('says what holds without a policy', async () => {
    const { code, out } = await policy(['explain', '--call', 'x'])
    expect(code).toBe(4)
    expect(out).toContain('No policy is named, so the defaults hold.')
  })

  it('refuses what it does not understand', async () => {
    for (const args of [
      ['explain'],
      ['explain', '--call', 'x', '--args', '[]'],
      ['explain', '--call', 'x', '--at', 'noon'],
      ['explian'],
      [],
    ]) {
      expect(await policy(args)).toMatchObject({ code: 2, out: '' })
    }
    expect((await policy(['explian'])).err).toContain('did you mean explain?')
  })

  it('lets no text of a policy speak to the terminal', async () => {
    const file = write('escape.yaml', 'id: p\npreconditions: [{ then: block, message: "a\\e[2Jb" }]\n')
    const { out } = await policy(['explain', file, '--call', 'x'])
    expect(out).toContain('a\\u001b[2Jb')
    expect(out).not.toContain('\u001b')
  })
})
