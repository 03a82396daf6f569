import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { longestWindowDays } from '../../policy/check-entries.ts'
import { keptCallDays } from '../call-ledger.ts'
import { openKeyRing } from '../chain-keys.ts'
import { migrate, storeVersion } from './migrations.ts'
import { SqliteJournal } from './sqlite-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const admitted = {
  type: 'tool.admitted',
  at: 1000,
  data: { callId: 'a', tool: 'drain', target: 'node-of-a-secret-name' },
}

test('forgets what no window can see any more when a run ends, and nothing that one can', async () => {
  expect(keptCallDays).toBeGreaterThanOrEqual(longestWindowDays)
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-ledger-'))
  const path = join(folder, 'journal.db')
  const journal = new SqliteJournal(path, openKeyRing(join(folder, 'keys')))
  const day = 86_400_000
  const now = 1_000 * day
  const call = (callId: string, at: number) => ({ ...admitted, at, data: { ...admitted.data, callId } })
  const spent = (at: number) => ({ type: 'model.answered', at, data: { promptTokens: 7 } })
  const old = Array.from({ length: 600 }, (_, n) => call(`old${n}`, now - (keptCallDays + 1) * day))
  await journal.append(
    'r1',
    [...old, call('seen', now - keptCallDays * day), spent(now - 41 * day), spent(now)],
    { ...by, expectedSeq: 0 },
  )
  await journal.append('other', [call('old', 1)], { ...by, tenant: 'globex', expectedSeq: 0 })
  const left = () => {
    const database = new DatabaseSync(path, { readOnly: true })
    const count = (table: string) =>
      Number(database.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()!['n'])
    const counts = [count('made_calls'), count('spendings')]
    database.close()
    return counts
  }
  expect(left()).toEqual([602, 2])
  const finished = { type: 'run.finished', at: now, data: { status: 'succeeded' } }
  // A part at a time, so that no commit takes long.
  await journal.append('r2', [finished], { ...by, expectedSeq: 0 })
  expect(left()).toEqual([102, 1])
  await journal.append('r3', [finished], { ...by, expectedSeq: 0 })
  expect(left()).toEqual([2, 1])
  await journal.close()
})

test('a store from before anything was counted counts from then on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-ledger-'))
  const path = join(folder, 'journal.db')
  const before = new DatabaseSync(path)
  migrate(before, path, 5)
  before.close()
  const journal = new SqliteJournal(path, openKeyRing(join(folder, 'keys')))
  await journal.append('r1', [admitted], { ...by, expectedSeq: 0 })
  const call = { run: 'r2', callId: 'a', tool: 'drain', target: 'node-of-a-secret-name', at: 2000 }
  const windows = [{ key: 'w', scope: 'tenant', tools: ['drain'], since: 0 }] as const
  const counts = await journal.ledger.count({ ...by, call, windows, dayBegan: 0 })
  expect(counts.windows['w']).toEqual({ calls: 1, targets: 1, seen: true })
  await journal.close()

  const after = new DatabaseSync(path)
  const rows = (query: string) => after.prepare(query).all()
  expect(rows('SELECT MAX(version) AS version FROM schema_version')).toEqual([{ version: storeVersion }])
  // Q2: what a call acted on can be compared and not read.
  expect(JSON.stringify(rows('SELECT * FROM made_calls'))).not.toContain('secret-name')
  const plan = rows('EXPLAIN QUERY PLAN SELECT COUNT(*) FROM made_calls WHERE tenant = 1 AND at >= 2')
  expect(JSON.stringify(plan)).toContain('USING COVERING INDEX made_calls_by_time')
  after.close()
})
