import { describe, expect, test } from 'vitest'
import { MemoryJournal } from '../journal/memory/memory-journal.ts'
import { RunRecord } from './run-record.ts'

const author = { tenant: 't', principal: 'p' }
const fact = (type: string) => ({ type, at: 0 })

/** A journal whose appends are told, and wait until they are let through. */
function slowJournal() {
  const journal = new MemoryJournal()
  const appends: string[][] = []
  const waiting: (() => void)[] = []
  const append = journal.append.bind(journal)
  journal.append = async (run, facts, options) => {
    appends.push(facts.map(({ type }) => type))
    await new Promise<void>((resolve) => waiting.push(resolve))
    return await append(run, facts, options)
  }
  return { journal, appends, waiting }
}

describe('the record of a run', () => {
  test('appends together what is written in one moment, and what is written while an append is under way', async () => {
    const { journal, appends, waiting } = slowJournal()
    const record = new RunRecord('r', journal, author)
    void record.write([fact('a')])
    void record.write([fact('b')])
    await tick()
    void record.write([fact('c')])
    await tick()
    const last = record.write([fact('d'), fact('e')])
    expect(appends).toEqual([['a', 'b']])
    waiting.shift()!()
    await tick()
    expect(appends).toEqual([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ])
    waiting.shift()!()
    await last
    expect(record.entries.map(({ type, seq }) => `${seq} ${type}`)).toEqual([
      '1 a',
      '2 b',
      '3 c',
      '4 d',
      '5 e',
    ])
  })

  test('fails everything after an append that failed', async () => {
    const journal = new MemoryJournal()
    let broken = true
    const append = journal.append.bind(journal)
    journal.append = async (...given) => {
      if (broken) throw new Error('disk full')
      return await append(...given)
    }
    const record = new RunRecord('r', journal, author)
    await expect(record.write([fact('a')])).rejects.toThrow('disk full')
    broken = false
    await expect(record.write([fact('b')])).rejects.toThrow('disk full')
    expect(record.entries).toEqual([])
  })
})

function tick(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
