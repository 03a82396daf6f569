import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../shared/json.ts'
import { ToolFailure } from '../../tool/tool-failure.ts'
import { findOut } from '../../tool/find-out.ts'
import { SecretVault } from '../secret-vault.ts'
import { type ExecToolDeclaration, createExecTool } from './exec-tool.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-exec-'))
afterAll(() => rmSync(folder, { recursive: true }))

const node = process.execPath
const script = (text: string) => {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.mjs`)
  writeFileSync(path, text)
  return path
}
const echo = script('console.log(JSON.stringify(process.argv.slice(2)))')

function make(declared: Partial<ExecToolDeclaration>, inputs: JsonObject = {}) {
  const tool = createExecTool(
    {
      name: 't',
      description: 'd',
      input: null,
      risk: 'write',
      timeoutSeconds: 100,
      maxResultBytes: 100_000,
      target: null,
      idempotent: false,
      compensate: null,
      reconcile: null,
      command: [node, echo, '{args.x}'],
      cwd: folder,
      env: {},
      passEnv: ['PATH'],
      allowDash: false,
      stdin: undefined,
      output: 'json',
      exitCodesWithoutEffect: [],
      ...declared,
    },
    { vault: new SecretVault({ TOKEN: 'token-123456' }), inputs },
  )
  const context = { signal: new AbortController().signal, idempotencyKey: 'k' }
  return {
    call: async (args: JsonObject = {}, signal = context.signal) =>
      await tool.execute(args, { ...context, signal }),
    dry: async (args: JsonObject = {}) => await tool.dryRun!(args, context),
    ask: async (args: JsonObject = {}, key = 'k') => await findOut(tool, { key, args }),
  }
}

describe('X1: arguments', () => {
  it('fill in whole elements and parts of them', async () => {
    const { call } = make(
      { command: [node, echo, '{args.x}', '--id={args.x}', 'a {inputs.b} c', '{{}}'] },
      { b: true },
    )
    expect(await call({ x: 'v w' })).toEqual(['v w', '--id=v w', 'a true c', '{}'])
  })

  it.each([
    '; rm -rf /',
    '$(id)',
    '`id`',
    '| cat',
    '&& id',
    '"',
    "'",
    '\n',
    '*',
    '~',
    '%PATH%',
    'env:TOKEN',
    '{args.y}',
    '',
  ])('are no commands: %j', async (x) => {
    expect(await make({}).call({ x, y: 's' })).toEqual([x])
  })

  it('arrive as they are, whatever they are', async () => {
    const { call } = make({})
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (x) => {
        if (x.startsWith('-') || x.includes('\0')) return
        expect(await call({ x })).toEqual([x])
      }),
      { numRuns: 8 },
    )
  })

  it.each(['-rf', '--output=/etc/passwd', '-', -5])('X2: are no options: %j', async (x) => {
    const commands = [
      ['{args.x}'],
      // Whose "--" it is cannot be seen: this one is the wrapper's, and the inner program would read an option.
      ['--', '{args.x}'],
      ['--', 'inner', '{args.x}'],
      ['{args.empty}{args.x}'],
      ['--name', '{args.x}'],
    ]
    for (const command of commands) {
      const { call } = make({ command: [node, echo, ...command] })
      const refused = call({ x, empty: '' })
      await expect(refused).rejects.toThrow(/would be read as an option/)
      await expect(refused).rejects.toBeInstanceOf(ToolFailure)
    }
  })

  it.each(['-rf', -5])('X2: may be joined to what the author wrote, or allowed: %j', async (x) => {
    const joined = make({ command: [node, echo, '--id={args.x}', 'a{args.x}'] })
    expect(await joined.call({ x })).toEqual([`--id=${x}`, `a${x}`])
    const allowed = make({ command: [node, echo, '--', '{args.x}'], allowDash: true })
    expect(await allowed.call({ x })).toEqual(['--', String(x)])
  })

  it('X2: cannot become an option of a program that another one starts', async () => {
    const tool = make({ command: ['env', '--', 'ls', '{args.f}'], output: 'text' })
    await expect(tool.call({ f: '--help' })).rejects.toThrow(/would be read as an option/)
  })

  it.each([[['a', 'b']], [{ a: 1 }], [null], ['a\0b']])('refuses %j and runs nothing', async (x) => {
    await expect(make({}).call({ x } as JsonObject)).rejects.toBeInstanceOf(ToolFailure)
    await expect(make({}).call({})).rejects.toBeInstanceOf(ToolFailure)
  })

  it('that are too long are a failure without effect', async () => {
    await expect(make({}).call({ x: 'x'.repeat(3_000_000) })).rejects.toBeInstanceOf(ToolFailure)
  })

  it('can be read from standard input', async () => {
    const cat = script('process.stdin.pipe(process.stdout)')
    expect(await make({ command: [node, cat], stdin: '{args}' }).call({ a: [1, 'ü'] })).toEqual({
      a: [1, 'ü'],
    })
    expect(await make({ command: [node, cat], stdin: 'hi {args.a}', output: 'text' }).call({ a: 1 })).toBe(
      'hi 1',
    )
    const deaf = script('process.stdin.destroy(); console.log(1)')
    expect(await make({ command: [node, deaf], stdin: '{args}' }).call({ a: 'x'.repeat(500_000) })).toBe(1)
  })
})

describe('X3: the environment', () => {
  const show = script('console.log(JSON.stringify(process.env))')

  it('holds what is passed and given, and nothing else', async () => {
    process.env['LOCKSTEP_TEST_PASSED'] = 'yes'
    process.env['LOCKSTEP_TEST_KEPT'] = 'no'
    const passEnv = ['LOCKSTEP_TEST_PASSED', 'LOCKSTEP_TEST_UNSET']
    const env = { A: { kind: 'text', text: '{args.x}' } } as const
    const result = (await make({ command: [node, show], passEnv, env }).call({ x: 'v' })) as JsonObject
    expect(result).toMatchObject({ LOCKSTEP_TEST_PASSED: 'yes', A: 'v' })
    expect(Object.keys(result).filter((key) => !key.startsWith('__'))).toEqual(['LOCKSTEP_TEST_PASSED', 'A'])
  })

  it('V2: masks its secrets in what the program says', async () => {
    const env = { T: { kind: 'secret', prefix: '', reference: { from: 'env', name: 'TOKEN' } } } as const
    const leak = script('console.error("no " + process.env.T); process.exit(Number(process.argv[2]))')
    expect(await make({ command: [node, show], passEnv: [], env }).call()).toMatchObject({ T: '[secret]' })
    await expect(make({ command: [node, leak, '3'], env }).call()).rejects.toThrow('exit code 3: no [secret]')
  })

  it('takes secrets from files and programs, and hides what they say when they fail', async () => {
    const file = join(folder, 'token.txt')
    writeFileSync(file, 'from-a-file\n')
    const reveal = script('console.log("from-a-program")')
    const fail = script('console.log("half-a-secret"); process.exit(1)')
    const run = (reference: object) => {
      const env = { T: { kind: 'secret', prefix: 'x ', reference } } as unknown as ExecToolDeclaration['env']
      const count = script('console.log(JSON.stringify(process.env.T.length))')
      return make({ command: [node, count], env }).call()
    }
    expect(await run({ from: 'file', path: file })).toBe('x from-a-file'.length)
    expect(await run({ from: 'exec', command: [node, reveal], cwd: folder })).toBe('x from-a-program'.length)
    const failed = run({ from: 'exec', command: [node, fail], cwd: folder })
    await expect(failed).rejects.toBeInstanceOf(ToolFailure)
    await expect(failed).rejects.not.toThrow(/half-a-secret/)
    await expect(run({ from: 'file', path: join(folder, 'none') })).rejects.toThrow(
      /cannot be had \(ENOENT\)/,
    )
  })
})

describe('how it ends', () => {
  const exit = script('console.log("said"); console.error("why"); process.exit(Number(process.argv[2]))')

  it('is a failure without effect only for the exit codes the declaration names', async () => {
    const command = [node, exit, '{args.x}']
    await expect(make({ command, exitCodesWithoutEffect: [3] }).call({ x: 3 })).rejects.toBeInstanceOf(
      ToolFailure,
    )
    const error: unknown = await make({ command, exitCodesWithoutEffect: [3] })
      .call({ x: 4 })
      .catch((thrown: unknown) => thrown)
    expect(error).not.toBeInstanceOf(ToolFailure)
    expect(error).toMatchObject({ message: 'the program ended with exit code 4: why' })
  })

  it('is a failure without effect when it could not be started', async () => {
    const missing = make({ command: ['lockstep-no-such-program'] }).call()
    await expect(missing).rejects.toBeInstanceOf(ToolFailure)
    await expect(missing).rejects.toThrow(/no such program/)
    await expect(make({ cwd: join(folder, 'none') }).call({ x: 'a' })).rejects.toBeInstanceOf(ToolFailure)
    await expect(make({ command: [folder] }).call()).rejects.toThrow(/may not be run/)
  })

  it('takes text that was to be JSON for an error', async () => {
    await expect(make({ command: [node, exit, '0'] }).call()).rejects.toThrow(/did not print JSON: said/)
    expect(await make({ command: [node, exit, '0'], output: 'text' }).call()).toBe('said\n')
  })

  it('keeps no more than it was told to', async () => {
    const flood = script('process.stdout.write("x".repeat(5_000_000))')
    const result = (await make({
      command: [node, flood],
      output: 'text',
      maxResultBytes: 500,
    }).call()) as string
    expect(result.length).toBeLessThanOrEqual(500)
    expect(result).toContain('[cut:')
  })

  it('ends with everything the program started when the call is aborted', async () => {
    const mark = join(folder, 'alive')
    const child = script(
      `setInterval(() => (await import('node:fs')).writeFileSync(${JSON.stringify(mark)}, String(Date.now())), 50)`.replace(
        '() => (await',
        'async () => (await',
      ),
    )
    const parent = script(
      `import { spawn } from 'node:child_process'; spawn(process.execPath, [${JSON.stringify(child)}], { stdio: 'inherit' }); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`,
    )
    const controller = new AbortController()
    const call = make({ command: [node, parent] }).call({}, controller.signal)
    call.catch(() => undefined)
    while (!existsSync(mark)) await sleep(20)
    controller.abort()
    await expect(call).rejects.toThrow(/ended by SIGKILL/)
    const last = readFileSync(mark, 'utf8')
    await sleep(300)
    expect(readFileSync(mark, 'utf8')).toBe(last)
  })

  it('shows a dry run what would be run', async () => {
    expect(await make({ stdin: '{args}' }).dry({ x: 'a' })).toEqual({
      command: [node, echo, 'a'],
      stdin: '{"x":"a"}',
    })
  })
})

describe('an exec tool that can be asked what became of a call', () => {
  const asked = script(
    'const [code, key] = process.argv.slice(2); console.log(JSON.stringify({ key, code })); process.exit(Number(code))',
  )
  const ask = (reconcile: Partial<ExecToolDeclaration['reconcile'] & object>, args: JsonObject) =>
    make({
      reconcile: {
        command: [node, asked, '{args.code}', '{key}'],
        applied: null,
        notApplied: null,
        result: undefined,
        ...reconcile,
      },
    }).ask(args, 'r_1/x y;')

  it('takes exit code 0 for applied, 1 for not applied, and any other for not known', async () => {
    expect(await ask({ result: { by: '{output.key}' } }, { code: '0' })).toEqual({
      outcome: 'succeeded',
      result: { by: 'r_1/x y;' },
      found: { how: 'reconciled' },
    })
    expect(await ask({}, { code: '1' })).toMatchObject({ outcome: 'failed' })
    expect(await ask({}, { code: '2' })).toMatchObject({ outcome: 'unknown' })
    expect(await ask({ command: ['no-such-program-anywhere'] }, { code: '0' })).toMatchObject({
      outcome: 'unknown',
    })
    expect(await ask({}, { code: '-0' })).toMatchObject({ outcome: 'unknown' })
  })

  it('takes the word of a condition over what it prints, and no exit code but 0 then', async () => {
    expect(await ask({ applied: 'output.key == key' }, { code: '0' })).toMatchObject({ outcome: 'succeeded' })
    expect(await ask({ applied: 'output.code == "1"' }, { code: '0' })).toMatchObject({ outcome: 'failed' })
    expect(await ask({ applied: 'output.code == "1"' }, { code: '1' })).toMatchObject({ outcome: 'unknown' })
    expect(await ask({ applied: 'output.other == 1' }, { code: '0' })).toMatchObject({ outcome: 'unknown' })
  })
})
