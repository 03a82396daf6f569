import { describe } from 'vitest'
import { journalSuite } from '../journal.suite.ts'
import { MemoryJournal } from './memory-journal.ts'

describe('MemoryJournal', () => journalSuite(async () => ({ journal: new MemoryJournal() })))
