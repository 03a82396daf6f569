import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
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
