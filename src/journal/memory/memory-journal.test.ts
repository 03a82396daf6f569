import { describe } from 'vitest'
import { leasedJournalSuite } from '../journal.suite.ts'
import { MemoryJournal } from './memory-journal.ts'

describe('MemoryJournal', () =>
  leasedJournalSuite(async () => ({ journal: new MemoryJournal() }), { shares: true }))
