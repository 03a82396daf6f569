import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openJournalOf } from '../../src/app.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import type { Journal, JournalFact } from '../../src/journal/journal.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { tool } from '../../src/tool/tool.ts'
import { targetKey } from '../../src/engine/embedded/guarded-journal.ts'

const root = mkdtempSync(join(tmpdir(), 'ls-bound-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const author = { tenant: 'local', principal: 'ann' }
const named = (name: string, risk: 'read' | 'write') =>
  tool({
    name,
    description: name,
    risk,
    input: { type: 'object' },
    target: () => 'n1',
    execute: () => null,
  })
const tools = [named('look', 'read'), named('act', 'write')]

function admitted(callId: string, name = 'act', target = 'n1'): JournalFact {
  return { type: 'tool.admitted', at: 1, data: { callId, tool: name, args: {}, target } }
}

function settled(callId: string, outcome = 'succeeded'): JournalFact {
  return { type: 'tool.settled', at: 2, data: { callId, outcome } }
}

/** One writer of a data folder, with a connection of its own. */
async function writer(home: string, run: string, dry = false) {
  const journal: Journal = await openJournalOf(join(home, 'runs'), run, { dry, tools })
  let seq = (await journal.read(run)).length
  const write = async (...facts: JournalFact[]) => {
    await journal.append(run, facts, { ...author, expectedSeq: seq })
    seq += facts.length
  }
  return { write, close: () => journal.close() }
}

it('admits nothing while the tenant is halted, whoever writes, and lets what is in flight end (B1)', async () => {
  const home = mkdtempSync(join(root, 'h-'))
  const store = new SqliteJournal(join(home, 'journal.db'), openKeyRing(join(home, 'keys')))
  const run = await writer(home, 'r_1')
  await run.write({ type: 'run.started', at: 1, data: {} }, admitted('1'))
  await store.halt(author, { at: 2, reason: 'audit' })
  await expect(run.write(admitted('2', 'act', 'n2'))).rejects.toThrow('All runs are halted by ann: audit.')
  await expect(run.write(admitted('2', 'look'))).rejects.toThrow('halted')
  await run.write(settled('1'))
  const dry = await writer(home, 'dry_1', true)
  await dry.write(admitted('1'))
  await store.unhalt(author, { at: 3, reason: 'over' })
  await run.write(admitted('2'))
  await Promise.all([run.close(), dry.close(), store.close()])
})

it('is alone with a target until the settlement is written down, across writers and restarts (B2)', async () => {
  const home = mkdtempSync(join(root, 'h-'))
  const store = new SqliteJournal(join(home, 'journal.db'), openKeyRing(join(home, 'keys')))
  const [first, second] = [await writer(home, 'r_1'), await writer(home, 'r_2')]
  await first.write(admitted('1'), admitted('2'))
  await expect(second.write(admitted('1'))).rejects.toThrow(`'target:n1' is locked by run r_1.`)
  // Looking takes nothing, and another target is free.
  await second.write(admitted('1', 'look'), admitted('2', 'act', 'n2'))
  await first.write(settled('1'))
  await expect(second.write(admitted('3'))).rejects.toThrow('locked by run r_1')
  await first.write(settled('2', 'unknown'))
  await expect(second.write(admitted('3'))).rejects.toThrow('locked by run r_1')
  await first.close()
  const again = await writer(home, 'r_1')
  await again.write(settled('2', 'failed'))
  await second.write(admitted('3'))
  expect(await store.locks('local')).toEqual([
    { key: targetKey('n1'), run: 'r_2' },
    { key: targetKey('n2'), run: 'r_2' },
  ])
  await second.write({ type: 'run.finished', at: 4, data: { status: 'succeeded' } })
  expect(await store.locks('local')).toEqual([])
  await Promise.all([again.close(), second.close(), store.close()])
})
