import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openKeyRing } from '../chain-keys.ts'
import { leasedJournalSuite } from '../journal.suite.ts'
import { SqliteJournal } from './sqlite-journal.ts'

describe('SqliteJournal', () =>
  leasedJournalSuite(
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'lockstep-sqlite-'))
      const open = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
      return { journal: open(), reopen: open }
    },
    { shares: true },
  ))

test('Q1: a lazy append is there at once, in its order, and with the next one that is waited for', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-sqlite-'))
  const open = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const by = { tenant: 'acme', principal: 'ada' }
  const fact = { type: 'a', at: 1, data: {} }
  const journal = open()
  await journal.append('r1', [fact], { ...by, expectedSeq: 0, lazy: true })
  const other = open()
  expect(await other.read('r1')).toHaveLength(1)
  await journal.append('r1', [fact], { ...by, expectedSeq: 1 })
  await journal.append('r1', [fact], { ...by, expectedSeq: 2, lazy: true })
  // Long enough for the log to be put on the disk by itself.
  await sleep(150)
  expect(await other.read('r1')).toHaveLength(3)
  await other.close()
  await journal.close()
})
