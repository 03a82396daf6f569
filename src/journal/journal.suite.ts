import { expect, test } from 'vitest'
import type { Journal, JournalFact, LeasedJournal } from './journal.ts'
import { ledgerSuite } from './call-ledger.suite.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string, data: JournalFact['data'] = {}): JournalFact => ({ type, at: 1000, data })

/** How an implementation is tested. */
export interface JournalSubject {
  readonly journal: Journal
  /** A second handle on the same store, if it lasts. */
  readonly reopen?: () => Journal
}

interface LeasedSubject {
  readonly journal: LeasedJournal
  readonly reopen?: () => LeasedJournal
}

/** What every journal keeps; each implementation's test calls it. */
export function journalSuite(create: () => Promise<JournalSubject>): void {
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

  test('an entry is read back with its members in the order in which they were written', async () => {
    const { journal } = await create()
    await journal.append('r1', [fact('a', { b: 1, a: { d: 1, c: 2 } })], { ...by, expectedSeq: 0 })
    expect(JSON.stringify((await journal.read('r1'))[0]!.data)).toBe('{"b":1,"a":{"d":1,"c":2}}')
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

  test('J3: what many writers append at once is all there, in the order of each', async () => {
    const { journal } = await create()
    const names = Array.from({ length: 30 }, (_, n) => `r${n}`)
    await Promise.all(
      names.map(async (run) => {
        for (let seq = 0; seq < 5; seq++) {
          await journal.append(run, [fact('a', { seq }), fact('b')], { ...by, expectedSeq: seq * 2 })
        }
      }),
    )
    for (const run of names) {
      const entries = await journal.read(run)
      expect(entries.filter(({ type }) => type === 'a').map(({ data }) => data['seq'])).toEqual([
        0, 1, 2, 3, 4,
      ])
    }
    await journal.close()
  })

  test('a clock that goes back loses nothing and changes no order', async () => {
    const { journal } = await create()
    await journal.append('r1', [{ type: 'a', at: 2000, data: {} }], { ...by, expectedSeq: 0 })
    await journal.append('r1', [{ type: 'b', at: 1000, data: {} }], { ...by, expectedSeq: 1 })
    expect((await journal.read('r1')).map(({ seq, at }) => [seq, at])).toEqual([
      [1, 2000],
      [2, 1000],
    ])
    await journal.close()
  })
}

/** What journals keep besides whose writers take leases. `shares` says whether runs can reserve what they share. */
export function leasedJournalSuite(create: () => Promise<LeasedSubject>, options: { shares: boolean }): void {
  journalSuite(create)

  test('J5: shuts a writer out whose lease was taken over', async () => {
    const { journal } = await create()
    const first = await journal.takeLease('r1')
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0, leaseEpoch: first })
    const second = await journal.takeLease('r1')
    expect(second).toBeGreaterThan(first)
    const late = journal.append('r1', [fact('b')], { ...by, expectedSeq: 1, leaseEpoch: first })
    await expect(late).rejects.toMatchObject({ code: 'journal_conflict', consequence: 'pause' })
    await journal.append('r1', [fact('c')], { ...by, expectedSeq: 1, leaseEpoch: second })
    expect((await journal.read('r1')).map(({ type }) => type)).toEqual(['a', 'c'])
    await journal.close()
  })

  test('J5: remembers over a restart which lease is the newest', async () => {
    const { journal, reopen } = await create()
    if (reopen === undefined) return
    const first = await journal.takeLease('r1')
    await journal.close()
    const again = reopen()
    expect(await again.takeLease('r1')).toBeGreaterThan(first)
    await again.close()
  })

  test('J7: lets no tenant write to the run of another', async () => {
    const { journal } = await create()
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    const foreign = journal.append('r1', [fact('b')], { ...by, tenant: 'other', expectedSeq: 1 })
    await expect(foreign).rejects.toMatchObject({ code: 'journal_conflict' })
    expect(await journal.read('r1')).toHaveLength(1)
    await journal.close()
  })

  if (options.shares) {
    reservationSuite(create)
    ledgerSuite(create)
  } else {
    test('J6: refuses reservations instead of forgetting them', async () => {
      const { journal } = await create()
      const reservations = [{ kind: 'lock', key: 'node-7' }] as const
      await expect(
        journal.append('r1', [fact('a')], { ...by, expectedSeq: 0, reservations }),
      ).rejects.toMatchObject({ code: 'not_available' })
      expect(await journal.read('r1')).toEqual([])
      await journal.close()
    })
  }
}

function reservationSuite(create: () => Promise<LeasedSubject>): void {
  const lock = (key: string) => ({ kind: 'lock', key }) as const
  const count = (amount: number, limit: number) => ({ kind: 'counter', key: 'nodes', amount, limit }) as const

  test('J6: gives a lock to one run at a time, and writes nothing for the other', async () => {
    const { journal } = await create()
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0, reservations: [lock('node-7')] })
    await journal.append('r1', [fact('b')], { ...by, expectedSeq: 1, reservations: [lock('node-7')] })
    const wanted = { ...by, expectedSeq: 0, reservations: [lock('node-8'), lock('node-7')] }
    const refused = {
      code: 'reservation_refused',
      consequence: 'retry',
      message: /'node-7' is locked by run r1/,
    }
    await expect(journal.append('r2', [fact('a')], wanted)).rejects.toMatchObject(refused)
    expect(await journal.read('r2')).toEqual([])
    await journal.append('r3', [fact('a')], { ...by, expectedSeq: 0, reservations: [lock('node-8')] })
    await journal.append('r1', [fact('c')], {
      ...by,
      expectedSeq: 2,
      releases: [lock('node-7'), lock('node-8')],
    })
    await expect(journal.append('r2', [fact('a')], wanted)).rejects.toMatchObject({ message: /run r3/ })
    await journal.close()
  })

  test('J6: frees the locks of a run that is finished, and keeps tenants apart', async () => {
    const { journal } = await create()
    const other = { tenant: 'other', principal: 'eve' }
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0, reservations: [lock('node-7')] })
    await journal.append('r2', [fact('a')], { ...other, expectedSeq: 0, reservations: [lock('node-7')] })
    await journal.append('r1', [fact('run.finished')], { ...by, expectedSeq: 1 })
    await journal.append('r3', [fact('a')], { ...by, expectedSeq: 0, reservations: [lock('node-7')] })
    await expect(
      journal.append('r4', [fact('a')], { ...other, expectedSeq: 0, reservations: [lock('node-7')] }),
    ).rejects.toMatchObject({ message: /run r2/ })
    await journal.close()
  })

  test('J6: lets no counter pass its limit, however many ask at once', async () => {
    const { journal } = await create()
    const tries = Array.from({ length: 20 }, (_, n) =>
      journal.append(`r${n}`, [fact('a')], { ...by, expectedSeq: 0, reservations: [count(3, 10)] }),
    )
    const ended = await Promise.allSettled(tries)
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(await journal.runs()).toHaveLength(3)
    const [run] = await journal.runs()
    await journal.append(run!, [fact('b')], {
      ...by,
      expectedSeq: 1,
      releases: [{ kind: 'counter', key: 'nodes', amount: 2 }],
    })
    await journal.append(run!, [fact('b')], { ...by, expectedSeq: 2, reservations: [count(3, 10)] })
    await expect(
      journal.append(run!, [fact('b')], { ...by, expectedSeq: 3, reservations: [count(1, 10)] }),
    ).rejects.toMatchObject({ message: /stands at 10, and 1 more would pass the limit of 10/ })
    await expect(
      journal.append(run!, [fact('b')], { ...by, expectedSeq: 3, reservations: [count(-5, 10)] }),
    ).rejects.toMatchObject({ code: 'invalid_value' })
    await journal.close()
  })

  test('J6: a refused append gives nothing back either', async () => {
    const { journal } = await create()
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0, reservations: [lock('a'), lock('b')] })
    await journal.append('r2', [fact('a')], { ...by, expectedSeq: 0, reservations: [lock('c')] })
    const swap = { ...by, expectedSeq: 1, releases: [lock('a')], reservations: [lock('c')] }
    await expect(journal.append('r1', [fact('b')], swap)).rejects.toMatchObject({
      code: 'reservation_refused',
    })
    await expect(
      journal.append('r2', [fact('b')], { ...by, expectedSeq: 1, reservations: [lock('a')] }),
    ).rejects.toMatchObject({ message: /locked by run r1/ })
    await journal.close()
  })
}
