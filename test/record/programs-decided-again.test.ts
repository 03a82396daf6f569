/** Every Markdown program of test/cases is decided again from its record alone, and every forgery of one is found. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import { isRunEventType } from '../../src/run/event-type.ts'
import { CuttableJournal, programOf, runCase, type RunCase } from '../program/run-case.ts'
import { judgeEntries } from './export-of.ts'

const folder = new URL('../cases/markdown/run/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

beforeEach(() => {
  vi.useRealTimers()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  vi.setTimerTickMode('nextTimerAsync')
})
afterAll(() => void vi.useRealTimers())

const isDecided = ({ type }: JournalEntry) => isRunEventType(type)

describe.each(files)('%s', (name) => {
  const { cases } = parse(readFileSync(new URL(name, folder), 'utf8')) as { cases: RunCase[] }

  test.each(cases.map((each) => [each.note, each] as const))('%s', async (_, each) => {
    const { result } = await runCase(each, new CuttableJournal())
    const playbook = programPlaybook(programOf(each), 'case')
    const { entries } = result.snapshot
    const verdict = judgeEntries(entries, playbook)
    expect(verdict.findings).toEqual([])
    expect(verdict.chains[0]?.recomputed).toBe(entries.filter(isDecided).length)
  })
})
