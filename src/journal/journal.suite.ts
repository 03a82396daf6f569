import { expect, test } from 'vitest'
import type { Journal, JournalFact } from './journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string, data: JournalFact['data'] = {}): JournalFact => ({ type, at: 1000, data })

/** What every journal keeps; each implementation's test calls it. `reopen` gives a second handle on the same store, if it lasts. */
export function journalSuite(create: () => Promise<{ journal: Journal; reopen?: () => Journal }>): void {
  test('J1: numbers the entries of a run from 1, in order', async () => {
    const { journal } = await create()
    await journal.append('r1', [fact('a'), fact('b')], { ...by, expectedSeq: 0 })
    await journal.append('r2', [fact('x')], { ...by, expectedSeq: 0 })
    await journal.append('r1', [fact('c', { n: 1 })], { ...by, expectedSeq: 2 })
    const entries = await journal.read('r1')
    expect(entries.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ])
    expect(entries[2]).toEqual({ v: 1, run: 'r1', seq: 3, at: 1000, ...by, type: 'c', data: { n: 1 } })
    expect(await journal.read('r1', 3)).toEqual([entries[2]])
    expect(await journal.runs()).toEqual(['r1', 'r2'])
    await journal.close()
  })

  test('J2: appends nothing if the last entry is not the one the writer expects', async () => {
    const { journal } = await create()
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    await expect(journal.append('r1', [fact('b')], { ...by, expectedSeq: 0 })).rejects.toMatchObject({
      code: 'journal_conflict',
      consequence: 'pause',
    })
    await expect(journal.append('r2', [fact('b')], { ...by, expectedSeq: 1 })).rejects.toMatchObject({
      code: 'journal_conflict',
    })
    expect(await journal.read('r1')).toHaveLength(1)
    await journal.close()
  })

  test('J2: of many writers at once with the same expectation, one succeeds', async () => {
    const { journal } = await create()
    const tries = Array.from({ length: 20 }, (_, n) =>
      journal.append('r1', [fact('a', { n })], { ...by, expectedSeq: 0 }),
    )
    const ended = await Promise.allSettled(tries)
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await journal.read('r1')).toHaveLength(1)
    await journal.close()
  })

  test('refuses what cannot be written down, all or nothing', async () => {
    const { journal } = await create()
    const bad = { type: 'b', at: 1, data: { when: new Date() } } as never as JournalFact
    await expect(journal.append('r1', [fact('a'), bad], { ...by, expectedSeq: 0 })).rejects.toMatchObject({
      code: 'invalid_value',
    })
    await expect(journal.append('../r1', [fact('a')], { ...by, expectedSeq: 0 })).rejects.toMatchObject({
      code: 'invalid_value',
    })
    expect(await journal.read('r1')).toEqual([])
    expect(await journal.read('never')).toEqual([])
    await journal.close()
  })

  test('an entry does not change when the writer changes what it handed over', async () => {
    const { journal } = await create()
    const data = { list: [1] }
    await journal.append('r1', [fact('a', data)], { ...by, expectedSeq: 0 })
    data.list.push(2)
    expect((await journal.read('r1'))[0]!.data).toEqual({ list: [1] })
    await journal.close()
  })

  test('J3: keeps what was appended over a restart, and lets a writer go on', async () => {
    const { journal, reopen } = await create()
    if (reopen === undefined) return
    await journal.append('r1', [fact('a', { text: 'line\nbreak, ünïcode 🙂' })], { ...by, expectedSeq: 0 })
    await journal.close()
    const again = reopen()
    expect(await again.read('r1')).toMatchObject([{ seq: 1, data: { text: 'line\nbreak, ünïcode 🙂' } }])
    await again.append('r1', [fact('b')], { ...by, expectedSeq: 1 })
    expect(await again.read('r1')).toHaveLength(2)
    await again.close()
  })

  test('appends nothing after it was closed', async () => {
    const { journal } = await create()
    await journal.close()
    await expect(journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })).rejects.toMatchObject({
      code: 'journal_closed',
    })
  })
}
