import { mkdtempSync, readFileSync, truncateSync, statSync, copyFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { Agent } from '../../agent/agent.ts'
import { openKeyRing } from '../../journal/chain-keys.ts'
import type { DatabaseOptions } from '../../journal/sqlite/open-database.ts'
import { SqliteJournal } from '../../journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../../playbook/define-playbook.ts'
import { tool } from '../../tool/tool.ts'
import { agentWork } from '../agent-work.ts'
import { EmbeddedEngine } from './embedded-engine.ts'

const playbook = definePlaybook({
  id: 'p',
  name: 'P',
  steps: ['one', 'two'].map((id) => ({ id, tool: 'act', input: { id } })),
})

function world() {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-engine-'))
  const path = join(folder, 'journal.db')
  const effects: string[] = []
  const trouble: {
    readonly run: string
    readonly error: { readonly code: string; readonly cause?: { code?: string } }
  }[] = []
  const state = { size: 0, slow: 0 }
  const act = tool({
    name: 'act',
    description: 'Acts.',
    risk: 'write',
    // Asked what became of a call, it knows: it keeps a list.
    reconcile: (key) =>
      effects.includes(key) ? { outcome: 'succeeded', result: { text: '' } } : { outcome: 'failed' },
    execute: async (_, { idempotencyKey }) => {
      if (state.slow > 0) await sleep(state.slow)
      effects.push(idempotencyKey)
      return { text: 'x'.repeat(state.size) }
    },
  })
  const open = async (options: DatabaseOptions = {}) => {
    const store = new SqliteJournal(path, openKeyRing(join(folder, 'keys')), options)
    const work = (run: string) =>
      agentWork(new Agent({ playbook, tools: [act], journal: engine.journal, model: 'none' }), run, {
        prompt: '',
      })
    const engine: EmbeddedEngine = await EmbeddedEngine.open({
      store,
      load: async (run) => work(run),
      onTrouble: (run, error) => trouble.push({ run, error: error as never }),
    })
    return {
      engine,
      store,
      start: (run: string) => engine.start(run, work(run)),
      close: async () => {
        await engine.close()
        await store.close()
      },
    }
  }
  return { folder, path, effects, trouble, state, open }
}

describe('an engine in trouble', () => {
  test('M2: a full store puts runs down before an effect that could not be written, and they go on when there is room', async () => {
    const { open, effects, trouble, state } = world()
    state.size = 40_000
    const small = await open({ maxPages: 120 })
    const rests = await Promise.all(Array.from({ length: 20 }, (_, n) => small.start(`r${n}`)))
    const left = rests.filter(({ ended }) => ended === null)
    expect(left.length).toBeGreaterThan(0)
    expect(new Set(trouble.map(({ error }) => error.cause?.code ?? error.code))).toEqual(
      new Set(['journal_unwritable']),
    )
    await small.close()
    // Whatever was done has its intent on record.
    const again = await open()
    const begun = new Set(await again.store.runs())
    for (const key of effects) expect(begun).toContain(key.split('/')[0])
    expect(await again.engine.recover()).toBe((await again.store.openRuns()).length)
    await again.engine.idle()
    expect(await again.store.openRuns()).toEqual([])
    expect(new Set(effects).size).toBe(effects.length)
    await again.close()
  })

  test('M2: a store that becomes read-only lets nothing through, and is read as before', async () => {
    const { open, path, effects, trouble } = world()
    const { start, store, close } = await open()
    await start('r1')
    const blocker = new DatabaseSync(path)
    blocker.exec("CREATE TRIGGER frozen BEFORE INSERT ON batches BEGIN SELECT RAISE(ABORT, 'frozen'); END")
    expect(await start('r2')).toMatchObject({ ended: null })
    expect(trouble.map(({ run }) => run)).toEqual(['r2'])
    expect(effects.map((key) => key.split('/')[0])).toEqual(['r1', 'r1'])
    expect((await store.read('r1')).at(-1)!.type).toBe('run.finished')
    blocker.exec('DROP TRIGGER frozen')
    blocker.close()
    await start('r3')
    expect(effects).toHaveLength(4)
    await close()
  })

  test('a clock that goes backwards loses no run, and repeats no effect', async () => {
    const { open, effects, state } = world()
    state.slow = 10
    const { start, store, close } = await open()
    const real = Date.now
    const spy = vi.spyOn(Date, 'now')
    try {
      const running = start('r1')
      while (effects.length === 0) await sleep(1)
      spy.mockImplementation(() => real() - 3_600_000)
      expect((await running).ended).toBe('succeeded')
    } finally {
      spy.mockRestore()
    }
    const times = (await store.read('r1')).map(({ at }) => at)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(effects).toHaveLength(2)
    await close()
  })

  test('a journal cut in the middle of a write is a run that was interrupted there', async () => {
    const { open, folder, path, effects } = world()
    const first = await open()
    await first.start('r1')
    // What a power cut leaves: the log as it was at some moment, with its last frames torn.
    copyFileSync(path, join(folder, 'cut.db'))
    copyFileSync(`${path}-wal`, join(folder, 'cut.db-wal'))
    await first.close()
    const size = statSync(join(folder, 'cut.db-wal')).size
    for (const share of [0.3, 0.6, 0.9]) {
      const torn = mkdtempSync(join(folder, 'torn-'))
      copyFileSync(join(folder, 'cut.db'), join(torn, 'journal.db'))
      copyFileSync(join(folder, 'cut.db-wal'), join(torn, 'journal.db-wal'))
      truncateSync(join(torn, 'journal.db-wal'), Math.floor(size * share))
      let store: SqliteJournal
      try {
        store = new SqliteJournal(join(torn, 'journal.db'), openKeyRing(join(folder, 'keys')))
      } catch {
        // Cut before the store had its form.
        continue
      }
      const engine: EmbeddedEngine = await EmbeddedEngine.open({
        store,
        load: async (run) =>
          agentWork(
            new Agent({ playbook, tools: [reading(effects)], journal: engine.journal, model: 'none' }),
            run,
            { prompt: '' },
          ),
      })
      await engine.recover()
      await engine.idle()
      const entries = await store.read('r1').catch(() => [])
      expect(await store.openRuns()).toEqual([])
      if (entries.length > 0)
        expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
      await engine.close()
      await store.close()
    }
    expect(readFileSync(path).length).toBeGreaterThan(0)
  })
})

/** The tool again, as the next process has it: what was done before was done. */
function reading(effects: readonly string[]) {
  return tool({
    name: 'act',
    description: 'Acts.',
    risk: 'write',
    reconcile: (key) => (effects.includes(key) ? { outcome: 'succeeded' } : { outcome: 'failed' }),
    execute: () => ({}),
  })
}
