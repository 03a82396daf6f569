/** Secrets that are planted everywhere in runs turn up nowhere: not in the bytes of the store, a stream, a page, a table or an export. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { exportCommand } from '../../src/cli/export-command.ts'
import { runsCommand } from '../../src/cli/runs-command.ts'
import { showCommand } from '../../src/cli/show-command.ts'
import { verifyCommand } from '../../src/cli/verify-command.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { readZip } from '../../src/report/zip-reader.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { RunRecord } from '../../src/tool/run-record.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import { runInProcess } from '../e2e/run-in-process.ts'

const letters = (least: number, most = least) =>
  fc.stringMatching(new RegExp(`^[A-Za-z0-9]{${least},${most}}$`))

/** A secret, and the text in which it stands. */
interface Plant {
  readonly secret: string
  readonly text: string
}

const alone = (secret: string): Plant => ({ secret, text: secret })
const inside =
  (text: (secret: string) => string) =>
  (secret: string): Plant => ({ secret, text: text(secret) })

/** Each shape of secret that there is to be found. */
const plants: Readonly<Record<string, fc.Arbitrary<Plant>>> = {
  github: letters(36).map((rest) => alone(`ghp_${rest}`)),
  gitlab: letters(20).map((rest) => alone(`glpat-${rest}`)),
  aws: fc.stringMatching(/^AKIA[A-Z0-9]{16}$/).map(alone),
  slack: letters(24).map((rest) => alone(`xoxb-123456789012-${rest}`)),
  openai: letters(40).map((rest) => alone(`sk-proj-${rest}`)),
  anthropic: letters(60).map((rest) => alone(`sk-ant-api03-${rest}`)),
  stripe: letters(24).map((rest) => alone(`sk_live_${rest}`)),
  google: letters(35).map((rest) => alone(`AIza${rest}`)),
  npm: letters(36).map((rest) => alone(`npm_${rest}`)),
  jwt: letters(20, 60).map((rest) => alone(`eyJ${rest}.eyJ${rest}.${rest}`)),
  header: letters(20, 40).map((rest) => inside((secret) => `Authorization: Bearer ${secret}`)(`Zq9.${rest}`)),
  basic: letters(20, 40).map(inside((secret) => `authorization: Basic ${secret}==`)),
  cookie: letters(20, 40).map(inside((secret) => `Cookie: session=${secret}; theme=dark`)),
  url: letters(12, 30).map(inside((secret) => `postgres://admin:${secret}@db.internal:5432/orders`)),
  quoted: letters(12, 30).map(inside((secret) => JSON.stringify({ name: 'x', password: secret }))),
  twice: letters(12, 30).map(
    inside((secret) => JSON.stringify({ body: JSON.stringify({ client_secret: secret }) })),
  ),
  setting: letters(12, 30).map(inside((secret) => `export DB_PASSWORD=${secret} && run`)),
  pem: letters(64).map(
    inside((secret) => `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----`),
  ),
}

const playbook = definePlaybook({
  id: 'desk',
  name: 'Desk',
  inputs: { note: 'string' },
  steps: [
    {
      id: 'work',
      description: 'Work.',
      expectedTools: ['look', 'send'],
      maxToolCalls: 9,
      completeWhen: 'any',
    },
  ],
})

const home = mkdtempSync(join(tmpdir(), 'lockstep-redaction-'))
const planted: { readonly name: string; readonly run: string; readonly plant: Plant }[] = []

/** A run with the secret in its inputs, arguments, results, errors, vetoes, a model's words and its end. */
async function record(journal: SqliteJournal, run: string, { text }: Plant): Promise<void> {
  const author = { tenant: 'local', principal: 'ada' }
  const written = new RunRecord(run, journal, author)
  await written.keep({ playbook, policies: [], tools: null })
  let now = 1_790_000_000_000
  const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
    run,
    inputs: { note: text },
    clock: () => (now += 1),
    onEvents: (events) => written.write(events),
  })
  const call = (args: JsonObject, execute: () => unknown) =>
    enforcer.call('look', args, async () => execute())
  await written.write([
    { type: 'model.answered', at: now, text: `I use ${text} now`, calls: [], number: 1 } as never,
  ])
  await call({ deep: [{ text: `before ${text} after` }] }, () => ({
    rows: [text],
    [text.slice(0, 2_000)]: 1,
  }))
  await call({ text }, () => {
    throw new ToolFailure(`refused with ${text}`)
  })
  enforcer.validateToolCall('send', { arguments: { text }, veto: `not with ${text}` })
  enforcer.finish(`done with ${text}`)
  await enforcer.written()
}

beforeAll(async () => {
  const journal = new SqliteJournal(join(home, 'journal.db'), openKeyRing(join(home, 'keys')))
  for (const [name, shape] of Object.entries(plants)) {
    for (const [index, plant] of fc.sample(shape, { numRuns: 3, seed: 4711 }).entries()) {
      const run = `r_${name}_${index}`
      await record(journal, run, plant)
      planted.push({ name, run, plant })
    }
  }
  await journal.close()
  vi.stubEnv('LOCKSTEP_HOME', home)
})

afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

function expectNone(where: string, content: string): void {
  const found = planted.filter(({ plant }) => content.includes(plant.secret)).map(({ run }) => run)
  expect([where, found]).toEqual([where, []])
}

test('there is something to be found: the record holds all of it for who has the keys', async () => {
  const { out } = await runInProcess(exportCommand, ['--all', '--whole'])
  for (const { run, plant } of planted) {
    // What is quoted inside a text is quoted once more by the lines.
    const written = [plant.secret, JSON.stringify(plant.secret).slice(1, -1)]
    expect([run, written.some((each) => out.includes(each))]).toEqual([run, true])
  }
})

test('not in the bytes of the store', () => {
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    if (!name.includes('.')) continue
    expectNone(name, readFileSync(join(home, name)).toString('latin1'))
  }
})

test('not in lists, in what is shown, or in its stream', async () => {
  for (const args of [[], ['--json']])
    expectNone('runs', (await runInProcess(runsCommand, ['--all', ...args])).out)
  for (const { run } of planted) {
    expectNone(run, (await runInProcess(showCommand, [run])).out)
    expectNone(run, (await runInProcess(showCommand, [run, '--json'])).out)
    expectNone(run, (await runInProcess(verifyCommand, [run])).out)
  }
})

test('not in exports, pages and archives, and what is left verifies', async () => {
  const all = await runInProcess(exportCommand, ['--all'])
  expect(all.out.length).toBeGreaterThan(10_000)
  expectNone('lines', all.out)
  for (const { run } of planted) expectNone(run, (await runInProcess(exportCommand, [run, '--html'])).out)
  const file = join(home, 'all.zip')
  expect(await runInProcess(exportCommand, ['--from', '2026-01-01', '-o', file])).toMatchObject({
    code: 0,
    err: '',
  })
  const members = readZip(readFileSync(file), { bytes: 1e9, members: 1_000 })
  expect(members.size).toBeGreaterThan(7)
  for (const [name, content] of members) expectNone(name, content.toString('utf8'))
  const verdict = await runInProcess(verifyCommand, [file])
  expect([verdict.code, verdict.out]).toEqual([
    0,
    expect.stringMatching(/^consistent · .* not recomputable \(listed\)/),
  ])
  expectNone('verdict', verdict.out)
  // What is withheld does not keep the rest from being proven: the server signed what is shown in its place.
  const proof = ['--checkpoint', join(home, 'kept.checkpoint'), '--public-key', join(home, 'kept.pem')]
  const lines = join(home, 'all.jsonl')
  expect((await runInProcess(exportCommand, ['--all', '-o', lines, ...proof])).code).toBe(0)
  const proven = await runInProcess(verifyCommand, [lines, ...proof])
  expect([proven.code, proven.out]).toEqual([0, expect.stringMatching(/^proven · /)])
  expect(proven.out).toMatch(
    /What was withheld: \d+ entries are shown without secrets, on the word of the server/,
  )
})
