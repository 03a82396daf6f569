import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openKeyRing } from '../chain-keys.ts'
import { migrate, storeVersion } from './migrations.ts'
import { SqliteJournal } from './sqlite-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const admitted = {
  type: 'tool.admitted',
  at: 1000,
  data: { callId: 'a', tool: 'drain', target: 'node-of-a-secret-name' },
}

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
