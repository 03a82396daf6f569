/** What was destroyed in the store is found; what was erased by rule is not taken for it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { exportCommand } from '../../src/cli/export-command.ts'
import { verifyCommand } from '../../src/cli/verify-command.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { runInProcess } from '../e2e/run-in-process.ts'

const home = mkdtempSync(join(tmpdir(), 'lockstep-destroyed-'))
const author = { tenant: 'local', principal: 'ada' }
const proof = ['--checkpoint', join(home, 'kept.checkpoint'), '--public-key', join(home, 'kept.pem')]

beforeAll(async () => {
  const journal = new SqliteJournal(join(home, 'journal.db'), openKeyRing(join(home, 'keys')))
  for (const run of ['r_erased', 'r_noise', 'r_void']) {
    const facts = ['run.started', 'approval.decided', 'run.finished'].map((type, index) => ({
      type,
      at: 100 + index,
      data: { playbook: 'sha256:none', status: 'succeeded' },
    }))
    for (const [index, fact] of facts.entries())
      await journal.append(run, [fact], { ...author, expectedSeq: index })
  }
  await journal.erase('r_erased', { ...author, at: 200 })
  await journal.close()
  vi.stubEnv('LOCKSTEP_HOME', home)
  expect((await runInProcess(exportCommand, ['--all', '-o', join(home, 'good.jsonl'), ...proof])).code).toBe(
    0,
  )
})

afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

const verify = (...args: string[]) => runInProcess(verifyCommand, args)
const firstLine = (text: string) => text.split('\n')[0]

test('a run that was erased by rule is consistent by itself, and proven with what was kept elsewhere', async () => {
  const all = await verify(join(home, 'good.jsonl'), ...proof)
  expect([all.code, firstLine(all.out)]).toEqual([0, expect.stringMatching(/^proven · /)])
  const run = await verify('r_erased')
  expect([run.code, firstLine(run.out)]).toEqual([0, expect.stringMatching(/^consistent · /)])
  expect(run.out).toContain('its payload is not in the export')
  const { out, err, code } = await runInProcess(exportCommand, ['r_erased'])
  expect([code, err]).toEqual([0, ''])
  // The chain of the tenant says that it was erased, and names no other run.
  expect(out).toContain('"type":"run.erased"')
  expect(out).not.toMatch(/r_noise|r_void/)
})

test('payloads that were destroyed in the store are named by verify and by every export', async () => {
  const database = new DatabaseSync(join(home, 'journal.db'))
  const triggers = database.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all()
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${String(name)}`)
  const destroy = (run: string, body: string) =>
    database.exec(
      `UPDATE batches SET body = ${body} WHERE seq = 2 AND chain = (SELECT id FROM chains WHERE name = '${run}')`,
    )
  destroy('r_noise', 'randomblob(length(body))')
  destroy('r_void', 'NULL')
  database.close()
  const message = 'the payload of entry 2 is missing or unreadable, and nothing says that it was erased'
  for (const run of ['r_noise', 'r_void']) {
    const alone = await verify(run)
    expect([alone.code, firstLine(alone.out)]).toEqual([5, `broken · ${run} entry 2: ${message} (edit)`])
    const exported = await runInProcess(exportCommand, [run])
    expect([exported.code, exported.err]).toEqual([5, `lockstep: ${run}: ${message}\n`])
  }
  const file = join(home, 'bad.jsonl')
  const all = await runInProcess(exportCommand, ['--all', '-o', file])
  expect([all.code, all.err.split('\n')]).toEqual([
    5,
    [`lockstep: r_noise: ${message}`, `lockstep: r_void: ${message}`, ''],
  ])
  const judged = await verify(file, ...proof)
  expect([judged.code, firstLine(judged.out)]).toEqual([5, `broken · r_noise entry 2: ${message} (edit)`])
})
