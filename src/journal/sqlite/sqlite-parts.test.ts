import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openKeyRing } from '../chain-keys.ts'
import { tenantChain } from '../chain.ts'
import { SqliteJournal } from './sqlite-journal.ts'

function openStore(): SqliteJournal {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-parts-'))
  return new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
}

const chain = tenantChain('t')

/** A tenant with 250 acts, written in commits of one to three, the numbers of which are their times. */
async function filled(): Promise<SqliteJournal> {
  const store = openStore()
  for (let at = 1; at <= 250;) {
    const facts = Array.from({ length: Math.min(1 + (at % 3), 251 - at) }, (_, index) => ({
      type: (at + index) % 10 === 0 ? 'tenth.done' : 'act.done',
      at: at + index,
      data: { n: at + index },
    }))
    await store.administer(facts, { tenant: 't', principal: at % 2 === 0 ? 'ann' : 'bob' })
    at += facts.length
  }
  return store
}

describe('a part of a chain', () => {
  test('is read from the end backwards, page by page, like the whole chain', async () => {
    const store = await filled()
    const whole = await store.sealed(chain)
    const found = []
    let before: number | null = null
    do {
      const { entries, next } = await store.part(chain, { before, most: 7 })
      found.push(...entries)
      before = next
    } while (before !== null)
    expect(found).toEqual(whole.toReversed())
    expect((await store.part('nobody', { most: 7 })).entries).toEqual([])
    await store.close()
  })

  test('holds only what is asked for: a kind, an author, a time', async () => {
    const store = await filled()
    const numbers = async (query: object) =>
      (await store.part(chain, { most: 1000, ...query })).entries.map(({ payload }) => payload?.data['n'])
    expect(await numbers({ type: 'tenth.done' })).toEqual(Array.from({ length: 25 }, (_, n) => 250 - 10 * n))
    expect(await numbers({ from: 100, to: 104 })).toEqual([103, 102, 101, 100])
    expect(await numbers({ from: 251 })).toEqual([])
    expect(await numbers({ to: 1 })).toEqual([])
    const byAnn = (await store.part(chain, { most: 1000, by: 'ann' })).entries
    expect(byAnn.length).toBeGreaterThan(0)
    expect(byAnn.every(({ link }) => link.principal === 'ann')).toBe(true)
    await store.close()
  })

  test('checkpoints come page by page, the newest first', async () => {
    const store = openStore()
    const author = { tenant: 't', principal: 'ann' }
    for (const run of ['r1', 'r2', 'r3'])
      await store.append(run, [{ type: 'run.finished', at: 1, data: { status: 'succeeded' } }], {
        ...author,
        expectedSeq: 0,
      })
    const all = await store.checkpoints(chain)
    const first = await store.checkpointPart(chain, null, 2)
    const second = await store.checkpointPart(chain, first.next, 2)
    expect([...first.checkpoints, ...second.checkpoints]).toEqual(all.toReversed())
    expect(second.next).toBeNull()
    await store.close()
  })

  test('the entries of a run from a number on are the end of all of them, and are checked', async () => {
    const store = openStore()
    const author = { tenant: 't', principal: 'ann' }
    for (let seq = 0; seq < 12;) {
      const facts = Array.from({ length: 1 + (seq % 4) }, (_, n) => ({
        type: 'x.y',
        at: seq + n,
        data: { n },
      }))
      await store.append('r1', facts, { ...author, expectedSeq: seq })
      seq += facts.length
    }
    const whole = await store.read('r1')
    for (let from = 1; from <= whole.length + 2; from++)
      expect(await store.read('r1', from)).toEqual(whole.slice(from - 1))
    expect(await store.read('nobody', 3)).toEqual([])
    await store.close()
  })
})
