import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { ChainHeads } from '../../src/journal/sqlite/chain-head.ts'
import { ChainReader } from '../../src/journal/sqlite/chain-reader.ts'
import { openDatabase } from '../../src/journal/sqlite/open-database.ts'

/** The entries of every run in the store of a data folder, run after run as they were opened. */
export function readRuns(home: string): JournalEntry[] {
  const path = join(home, 'journal.db')
  if (!existsSync(path)) return []
  const database = openDatabase(path)
  try {
    const keys = openKeyRing(join(home, 'keys'))
    const reader = new ChainReader(database, new ChainHeads(database, keys), keys)
    const runs = database.prepare('SELECT name FROM chains WHERE number > 0 ORDER BY number').all()
    return runs.flatMap(({ name }) => reader.entries(String(name)))
  } finally {
    database.close()
  }
}
