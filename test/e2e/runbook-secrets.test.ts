/** Secrets of runbooks on the command line: planted values are looked for in everything that is written, kept or exported. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test, vi } from 'vitest'
import { checkCommand } from '../../src/cli/check-command.ts'
import type { Command } from '../../src/cli/command.ts'
import { explainCommand } from '../../src/cli/explain-command.ts'
import { exportCommand } from '../../src/cli/export-command.ts'
import { showCommand } from '../../src/cli/show-command.ts'
import { verifyCommand } from '../../src/cli/verify-command.ts'
import { SecretStore } from '../../src/source/secret-store.ts'
import { readRuns } from './read-runs.ts'
import { runInProcess } from './run-in-process.ts'
import { runLockstep } from './run-lockstep.ts'

const root = mkdtempSync(join(tmpdir(), 'ls-rs-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const planted = { stored: 'planted-"stored"/é1', env: 'planted+env&value=2', file: 'planted file value 3' }
const forms = Object.values(planted).flatMap((value) => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  Buffer.from(value).toString('base64'),
  Buffer.from(value).toString('base64url'),
])

function expectNone(text: string): void {
  for (const form of forms) expect(text.includes(form), `${form} in ${text.slice(0, 200)}`).toBe(false)
}

/** A folder with a runbook whose tools write down what they got and repeat it. */
function world() {
  const folder = mkdtempSync(join(root, 'w-'))
  const home = join(folder, 'home')
  const write = (name: string, value: unknown) =>
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value))
  write(
    'act.mjs',
    `import { appendFileSync } from 'node:fs'
const [, , verb, text] = process.argv
appendFileSync('got', verb + ' ' + text + '\\n')
const out = { ok: true, text, encoded: Buffer.from(text).toString('base64') }
console.log(JSON.stringify(out))
console.error('said ' + text)
if (verb === 'break') process.exit(1)
`,
  )
  const input = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] }
  const exec = ['publish', 'look', 'withdraw', 'break'].map((name) => ({
    name,
    description: name,
    risk: name === 'look' || name === 'break' ? 'read' : 'write',
    output: 'json',
    command: [process.execPath, 'act.mjs', name, '{args.token}'],
    input,
  }))
  write('lockstep.config.json', { tools: { exec } })
  write('key', planted.file)
  write('book.json', {
    name: 'book',
    secrets: { stored: 'store:api-token', env: 'env:PLANTED', file: `file:${join(folder, 'key')}` },
    steps: [
      {
        name: 'publish',
        tool: 'publish',
        input: { token: '{secrets.stored}' },
        verify: { tool: 'look', input: { token: '{secrets.env}' }, expect: 'result.ok' },
        compensate: { tool: 'withdraw', input: { token: '{secrets.file}' } },
      },
      { name: 'break', tool: 'break', input: { token: '{secrets.stored}' } },
    ],
  })
  const env = { LOCKSTEP_HOME: home, PLANTED: planted.env }
  return {
    folder,
    home,
    store: new SecretStore({ home }),
    lockstep: (...args: string[]) => runLockstep(args, { cwd: folder, env }),
    inProcess: async (command: Command, ...args: string[]) => {
      vi.stubEnv('LOCKSTEP_HOME', home)
      return await runInProcess(command, args).finally(() => vi.unstubAllEnvs())
    },
  }
}

/** Every byte of a folder, but what a command was asked to keep there encrypted. */
function bytesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'))
    .join('\n')
}

test('a run stops for a secret that is missing, goes on with it, and leaves it nowhere; its export verifies', async () => {
  const { folder, home, store, lockstep, inProcess } = world()
  const book = join(folder, 'book.json')
  const dry = await lockstep('run', 'book.json')
  expect([dry.code, dry.err]).toEqual([0, ''])
  expect(dry.out).toContain('Secret stored (store:api-token), given to publish, break')
  expect(dry.out).toContain('secret://stored')

  const missing = await lockstep('run', 'book.json', '--mode', 'execute')
  const why =
    "publish (publish) could not be made: the secret 'stored' cannot be had: The secret store:api-token is not in the store. (lockstep secret set api-token puts it there)"
  expect(missing.out).toContain(`Why: ${why}`)
  expect(bytesOf(folder)).not.toContain('publish planted')

  await store.set('api-token', planted.stored)
  const run = readRuns(home).find((entry) => !entry.run.startsWith('dry_'))!.run
  const done = await lockstep('resume', run, '--json')
  expect(readFileSync(join(folder, 'got'), 'utf8').split('\n')).toEqual([
    `publish ${planted.stored}`,
    `look ${planted.env}`,
    `break ${planted.stored}`,
    `withdraw ${planted.file}`,
    '',
  ])
  expect(done.out).toContain('secret://stored')

  const file = join(folder, 'run.jsonl')
  const page = join(folder, 'run.html')
  const said = [
    dry,
    missing,
    done,
    await inProcess(checkCommand, book),
    await inProcess(checkCommand, book, '--format', 'json'),
    await inProcess(explainCommand, book),
    await inProcess(showCommand, run),
    await inProcess(showCommand, run, '--json'),
    await inProcess(exportCommand, run, '-o', file),
    await inProcess(exportCommand, run, '--html', '-o', page),
    await inProcess(exportCommand, run, '--whole', '-o', join(folder, 'whole.jsonl')),
    await inProcess(verifyCommand, file),
    await inProcess(verifyCommand, run),
  ]
  for (const { out, err } of said) expectNone(out + err)
  expect(said[3]!.out).toContain(`${book} needs the secret env (env:PLANTED), given to look`)
  expect(JSON.parse(said[4]!.out)).toMatchObject({
    secrets: [{ name: 'stored', reference: 'store:api-token' }, {}, {}],
  })
  expect(said[5]!.out).toContain('secret://file')
  expect(said.slice(6).map(({ code, err }) => [code, err])).toEqual(
    said.slice(6).map(() => [0, expect.anything()]),
  )
  const entries = readRuns(home)
  expectNone(JSON.stringify(entries))
  expect(JSON.stringify(entries)).toContain('"text":"[secret]"')
  expectNone(
    readFileSync(file, 'utf8') +
      readFileSync(page, 'utf8') +
      readFileSync(join(folder, 'whole.jsonl'), 'utf8'),
  )
  // The handle is no secret, so nothing is withheld for it.
  expect(readFileSync(file, 'utf8')).toContain('secret://stored')
  expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(folder, 'whole.jsonl'), 'utf8'))
  for (const { out } of said.slice(-2)) expect(out).toMatch(/^consistent .* decisions recomputed$/m)
  expectNone(bytesOf(home))
})

test('the example sends the code to the practice service, and the record holds the handle', async () => {
  const home = mkdtempSync(join(root, 'e-'))
  await new SecretStore({ home }).set('pickup-code', 'locker 12: 4711-0815')
  const cwd = fileURLToPath(new URL('../../examples/runbooks/', import.meta.url))
  const ended = await runLockstep(['run', 'pickup-code.yaml', '--mode', 'execute'], {
    cwd,
    env: { LOCKSTEP_HOME: home },
  })
  expect([ended.code, ended.err]).toEqual([0, ''])
  expect(ended.out + JSON.stringify(readRuns(home))).not.toContain('4711')
  expect(JSON.stringify(readRuns(home))).toContain('"text":"secret://pickup_code"')
  expect(bytesOf(join(home, 'practice'))).toContain('locker 12: 4711-0815')
})
