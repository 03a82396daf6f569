import { expect, test } from 'vitest'
import type { JournalFact, LeasedJournal } from './journal.ts'

const by = { tenant: 'acme', principal: 'ada' }

interface LedgerSubject {
  readonly journal: LeasedJournal
  readonly reopen?: () => LeasedJournal
}

/** What every journal that counts keeps. */
export function ledgerSuite(create: () => Promise<LedgerSubject>): void {
  const admitted = (callId: string, more: JournalFact['data'] = {}, at = 1000): JournalFact => {
    const data = { callId, tool: 'k8s.drain', target: 'n1', ...more }
    return { type: 'tool.admitted', at, data }
  }
  const settled = (callId: string, outcome: string, more: JournalFact['data'] = {}): JournalFact => {
    return { type: 'tool.settled', at: 1500, data: { callId, outcome, ...more } }
  }
  const window = { key: 'w', scope: 'tenant', tools: null, since: 0 } as const
  const asked = (more: object = {}, windows: readonly object[] = [window]) => {
    const call = { run: 'asker', callId: 'c', tool: 'k8s.drain', target: 'n1', at: 2000, ...more }
    return { ...by, call, windows, dayBegan: 0 } as Parameters<
      NonNullable<LeasedJournal['ledger']>['count']
    >[0]
  }
  const counted = async ({ ledger }: LeasedJournal, more: object = {}) => {
    const { windows } = await ledger!.count(asked({}, [{ ...window, ...more }]))
    const { calls, targets, seen } = windows['w']!
    return [calls, targets, seen]
  }

  test('C1: counts what had, or may have had, an effect, and gives back what certainly had none', async () => {
    const { journal, reopen } = await create()
    const calls = ['a', 'b', 'c', 'd', 'e'].map((id) => admitted(id, { target: `n${id}` }))
    await journal.append('r1', calls, { ...by, expectedSeq: 0 })
    expect(await counted(journal)).toEqual([5, 5, false])
    const ends = [
      settled('a', 'succeeded'),
      settled('b', 'failed'),
      settled('c', 'not_executed'),
      settled('d', 'unknown'),
      settled('e', 'succeeded', { shown: true }),
    ]
    await journal.append('r1', ends, { ...by, expectedSeq: 5 })
    expect(await counted(journal)).toEqual([2, 2, false])
    await journal.append('r1', [settled('d', 'failed')], { ...by, expectedSeq: 10 })
    const shown = { policy: { facts: { mode: 'dry-run' }, request: { risk: 'write' } } }
    await journal.append('dry', [admitted('a', shown)], { ...by, expectedSeq: 0 })
    const other = reopen?.() ?? journal
    expect(await counted(other)).toEqual([1, 1, false])
    if (other !== journal) await other.close()
    await journal.close()
  })

  test('C1: tells tools, targets, principals, tenants and times apart', async () => {
    const { journal } = await create()
    await journal.append('r1', [admitted('a'), admitted('b', {}, 500)], { ...by, expectedSeq: 0 })
    const policy = { facts: { principal: { id: 'eve' } } }
    const others = [
      admitted('a', { tool: 'k8s[1].x', target: 'n2' }),
      admitted('b', { tool: 'pay', target: null, policy }),
    ]
    await journal.append('r2', others, { ...by, principal: 'bob', expectedSeq: 0 })
    await journal.append('r3', [admitted('a')], { tenant: 'other', principal: 'ada', expectedSeq: 0 })
    expect(await counted(journal)).toEqual([4, 3, true])
    expect(await counted(journal, { scope: 'principal' })).toEqual([2, 1, true])
    expect(await counted(journal, { since: 501 })).toEqual([3, 3, true])
    expect(await counted(journal, { tools: ['k8s.*'] })).toEqual([2, 1, true])
    expect(await counted(journal, { tools: ['k8s[1]*'] })).toEqual([1, 1, false])
    expect(await counted(journal, { tools: ['p?y'] })).toEqual([0, 0, false])
    expect(await counted(journal, { tools: ['*.drain', 'pay'] })).toEqual([3, 2, true])
    const { ledger } = journal
    const eve = { ...asked({}, [{ ...window, scope: 'principal' }]), principal: 'eve' }
    expect((await ledger!.count(eve)).windows['w']).toEqual({ calls: 1, targets: 1, seen: false })
    await journal.close()
  })

  test('C2: of many that take the last places at once, each sees those before it', async () => {
    const { journal, reopen } = await create()
    const other = reopen?.() ?? journal
    const tries = Array.from({ length: 12 }, (_, n) =>
      (n % 2 === 0 ? journal : other).ledger!.take(asked({ run: `r${n}` })),
    )
    const seen = (await Promise.all(tries)).map(({ windows, day }) => [windows['w']!.calls, day.calls])
    expect(seen.toSorted(([a], [b]) => a! - b!)).toEqual(Array.from({ length: 12 }, (_, n) => [n, n]))
    // Who asks again for the same call has one place.
    await journal.ledger!.take(asked({ run: 'r0' }))
    expect(await counted(journal)).toEqual([12, 1, true])
    if (other !== journal) await other.close()
    await journal.close()
  })

  test('C2: a place becomes the call that is written down, and is free again if none is', async () => {
    const { journal } = await create()
    const { ledger } = journal
    for (const callId of ['a', 'b', 'c']) await ledger!.take(asked({ run: 'r1', callId }))
    await journal.append('r1', [admitted('a')], { ...by, expectedSeq: 0 })
    expect(await counted(journal)).toEqual([3, 1, true])
    await ledger!.giveBack({ run: 'r1', callId: 'a' })
    await ledger!.giveBack({ run: 'r1', callId: 'b' })
    expect(await counted(journal)).toEqual([2, 1, true])
    await journal.append('r1', [{ type: 'run.finished', at: 2000, data: {} }], { ...by, expectedSeq: 1 })
    expect(await counted(journal)).toEqual([1, 1, true])
    await journal.close()
  })

  test('C3: an append that is refused counts nothing', async () => {
    const { journal } = await create()
    await expect(journal.append('r1', [admitted('a')], { ...by, expectedSeq: 3 })).rejects.toThrow()
    expect(await counted(journal)).toEqual([0, 0, false])
    await journal.close()
  })

  test('C4: the call of a run below counts where it is made, not above', async () => {
    const { journal } = await create()
    await journal.append('up', [admitted('x/1'), admitted('x/1/y')], { ...by, expectedSeq: 0 })
    await journal.append('down', [admitted('y')], { ...by, expectedSeq: 0 })
    expect(await counted(journal)).toEqual([2, 1, true])
    await journal.close()
  })

  test('adds up what was spent in the day, and knows no dollars where one spending has no price', async () => {
    const { journal } = await create()
    const answered = (at: number, data: JournalFact['data']) => ({ type: 'model.answered', at, data })
    const usage = { promptTokens: 10, completionTokens: 5 }
    const facts = [
      answered(99, { ...usage }),
      answered(100, { ...usage, cost: 0.25 }),
      { type: 'question.answered', at: 200, data: { usage: { ...usage, cost: 0.5 } } },
      answered(300, { ...usage, estimated: { promptTokens: 1, completionTokens: 2 }, cost: 0.25 }),
      admitted('a', {}, 99),
      admitted('b', {}, 100),
    ]
    await journal.append('r1', facts, { ...by, expectedSeq: 0 })
    const day = async () => (await journal.ledger!.count({ ...asked(), dayBegan: 100 })).day
    expect(await day()).toEqual({ calls: 1, tokens: 48, cost: 1 })
    await journal.append('r2', [answered(400, usage)], { ...by, expectedSeq: 0 })
    expect(await day()).toEqual({ calls: 1, tokens: 63, cost: null })
    await journal.close()
  })
}
