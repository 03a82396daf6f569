import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
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

test('Q1: a lazy append is there at once, in its order, and with the next one that is waited for', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-sqlite-'))
  const open = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const by = { tenant: 'acme', principal: 'ada' }
  const fact = { type: 'a', at: 1, data: {} }
  const journal = open()
  await journal.append('r1', [fact], { ...by, expectedSeq: 0, lazy: true })
  const other = open()
  expect(await other.read('r1')).toHaveLength(1)
  await journal.append('r1', [fact], { ...by, expectedSeq: 1 })
  await journal.append('r1', [fact], { ...by, expectedSeq: 2, lazy: true })
  // Long enough for the log to be put on the disk by itself.
  await sleep(150)
  expect(await other.read('r1')).toHaveLength(3)
  await other.close()
  await journal.close()
})

test('J8: a halted tenant lets nothing through that asks for it not to be, over a restart, until it goes on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-sqlite-'))
  const open = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const by = { tenant: 'acme', principal: 'ada' }
  const fact = { type: 'a', at: 1, data: {} }
  const journal = open()
  expect(await journal.halt(by, { at: 5, reason: 'wrong region' })).toBe(true)
  expect(await journal.halt(by, { at: 6, reason: 'again' })).toBe(false)
  await journal.close()
  const again = open()
  expect(await again.halted('acme')).toEqual({ by: 'ada', at: 5, reason: 'wrong region' })
  const reservations = [{ kind: 'unhalted' }] as const
  await expect(again.append('r1', [fact], { ...by, expectedSeq: 0, reservations })).rejects.toMatchObject({
    code: 'reservation_refused',
    message: 'All runs are halted by ada: wrong region.',
  })
  await again.append('r1', [fact], { ...by, expectedSeq: 0 })
  await again.append('r2', [fact], { tenant: 'other', principal: 'eve', expectedSeq: 0, reservations })
  expect(await again.unhalt(by, { at: 7, reason: 'mended' })).toBe(true)
  expect(await again.unhalt(by, { at: 8, reason: 'again' })).toBe(false)
  await again.append('r1', [fact], { ...by, expectedSeq: 1, reservations })
  const chain = await again.sealed('tenant:acme')
  expect(chain.map(({ link, payload }) => [link.type, payload!.data['reason'] ?? null])).toEqual([
    ['tenant.halted', 'wrong region'],
    ['run.opened', null],
    ['tenant.unhalted', 'mended'],
  ])
  await again.close()
})

test('J8: what another connection halts, or lets go on, counts for the very next append', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-sqlite-'))
  const open = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const by = { tenant: 'acme', principal: 'ada' }
  const fact = { type: 'a', at: 1, data: {} }
  const [one, other] = [open(), open()]
  const reservations = [{ kind: 'unhalted' }] as const
  const append = (expectedSeq: number) => one.append('r1', [fact], { ...by, expectedSeq, reservations })
  await append(0)
  await append(1)
  await other.halt(by, { at: 2, reason: 'wrong region' })
  await expect(append(2)).rejects.toMatchObject({ code: 'reservation_refused' })
  await expect(append(2)).rejects.toMatchObject({ code: 'reservation_refused' })
  await other.unhalt(by, { at: 3, reason: 'mended' })
  await append(2)
  // In one commit: the halt comes first, and binds what stands behind it.
  const halted = one.halt(by, { at: 4, reason: 'again' })
  const behind = append(3)
  expect(await halted).toBe(true)
  await expect(behind).rejects.toMatchObject({ code: 'reservation_refused' })
  await one.close()
  await other.close()
})

test('Q4: a run that has ended can be written to again, and each checkpoint names it once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-sqlite-'))
  const journal = new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const by = { tenant: 'acme', principal: 'ada' }
  const fact = (type: string) => ({ type, at: 1, data: { status: 'succeeded' } })
  await Promise.all([
    journal.append('r1', [fact('run.started')], { ...by, expectedSeq: 0 }),
    journal.append('r1', [fact('run.finished')], { ...by, expectedSeq: 1 }),
    journal.append('r1', [fact('approval.voted')], { ...by, expectedSeq: 2 }),
  ])
  await journal.append('r1', [fact('approval.voted')], { ...by, expectedSeq: 3 })
  expect((await journal.read('r1')).map(({ type }) => type)).toEqual([
    'run.started',
    'run.finished',
    'approval.voted',
    'approval.voted',
  ])
  const heads = (await journal.checkpoints('r1')).map((each) =>
    each.heads.filter(({ chain }) => chain === 'r1'),
  )
  expect(heads.map((each) => each.map(({ seq }) => seq))).toEqual([[3], [4]])
  expect(await journal.openRuns()).toEqual([])
  await journal.close()
})

test('O1: a run that has ended is never open again, whoever claims it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-sqlite-'))
  const open = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const by = { tenant: 'acme', principal: 'ada' }
  const finished = { type: 'run.finished', at: 2, data: {} }
  const [one, other] = [open(), open()]
  await one.append('r1', [{ type: 'a', at: 1, data: {} }], { ...by, expectedSeq: 0 })
  // Together, as votes that arrive at once: some of them come after the end.
  await Promise.all([
    other.claim('r1'),
    one.append('r1', [finished], { ...by, expectedSeq: 1 }),
    ...Array.from({ length: 5 }, async () => await one.claim('r1')),
    other.claim('r1'),
  ])
  await one.claim('r1')
  await other.append('r1', [{ type: 'late', at: 3, data: {} }], { ...by, expectedSeq: 2 })
  expect(await one.openRuns()).toEqual([])
  await one.close()
  await other.close()
})

test('O1: what an older version left open that has ended is closed when the store is opened', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-sqlite-'))
  const path = join(folder, 'journal.db')
  const open = () => new SqliteJournal(path, openKeyRing(join(folder, 'keys')))
  const by = { tenant: 'acme', principal: 'ada' }
  const fact = (type: string) => ({ type, at: 1, data: {} })
  const journal = open()
  await journal.append('r1', [fact('a'), fact('run.finished')], { ...by, expectedSeq: 0 })
  await journal.append('r1', [fact('late')], { ...by, expectedSeq: 2 })
  await journal.append('r2', [fact('a')], { ...by, expectedSeq: 0 })
  await journal.close()
  const database = new DatabaseSync(path)
  database.exec("INSERT INTO open_runs (run) VALUES ('r1'); DELETE FROM schema_version WHERE version > 7")
  database.close()
  const again = open()
  expect(await again.openRuns()).toEqual(['r2'])
  await again.close()
})
