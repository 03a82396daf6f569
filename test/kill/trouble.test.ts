/** What else may happen to a run and its store: it goes on when the trouble is over, and ends as if there had been none. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { agentWork } from '../../src/engine/agent-work.ts'
import { EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { tool } from '../../src/tool/tool.ts'
import { effectsOf } from './outcome-of.ts'
import { beforeAppends, expectSame, inWorld, undisturbed } from './in-world.ts'
import { runChild } from './run-child.ts'
import { isEnded, openStore, workOn } from './work-on.ts'
import { scratch } from './scratch.ts'

/** Far more than it takes, for a machine that has other things to do. */
const timeout = 240_000

async function pagesOfEmptyStore(): Promise<number> {
  const folder = scratch()
  await openStore(folder).close()
  const database = new DatabaseSync(join(folder, 'journal.db'))
  const { page_count: pages } = database.prepare('PRAGMA page_count').get()!
  database.close()
  return Number(pages)
}

test(
  'a store that is full puts the run down at once, and it goes on when there is room',
  async () => {
    const { outcome } = await undisturbed('goes-well')
    const empty = await pagesOfEmptyStore()
    const stoppedAt = new Set<number>()
    for (const maxPages of [0, 1, 2, 4, 6].map((more) => empty + more)) {
      await inWorld('goes-well', `full-${maxPages}`, async (job) => {
        const full = await workOn(job, { database: { maxPages } }).catch((error: unknown) => error)
        // Before the first entry it is the store that cannot be written, after it the record of the run.
        expect(full).toMatchObject({
          code: expect.stringMatching(/^(?:record_failed|journal_unwritable)$/),
          message: expect.stringMatching(/full/),
        })
        const store = openStore(job.folder)
        stoppedAt.add((await store.read(job.run)).length)
        await store.close()
        await expectSame(job, await workOn(job), outcome)
      })
    }
    expect(stoppedAt.size).toBeGreaterThan(2)
  },
  timeout,
)

test(
  'a store that becomes read-only puts the run down at once, and it goes on when it can be written',
  async () => {
    const { outcome } = await undisturbed('goes-well')
    await inWorld('goes-well', 'frozen', async (job) => {
      const change = (sql: string) => {
        const other = new DatabaseSync(join(job.folder, 'journal.db'))
        other.exec(sql)
        other.close()
      }
      let appends = 0
      const store = beforeAppends(() => {
        if (++appends === 6)
          change("CREATE TRIGGER frozen BEFORE INSERT ON batches BEGIN SELECT RAISE(ABORT, 'frozen'); END")
      })
      await expect(workOn(job, { store })).rejects.toMatchObject({ code: 'record_failed' })
      const done = await effectsOf(job.url)
      await expect(workOn(job)).rejects.toMatchObject({
        code: expect.stringMatching(/record_failed|unwritable/),
      })
      expect(await effectsOf(job.url)).toEqual(done)
      change('DROP TRIGGER frozen')
      await expectSame(job, await workOn(job), outcome)
    })
  },
  timeout,
)

test(
  'a clock that was put back before the run is taken up does not keep it waiting',
  async () => {
    const { outcome } = await undisturbed('is-undone')
    await inWorld('is-undone', 'back', async (job) => {
      let appends = 0
      // The first attempt of `deploy` is settled by the sixth: the next one is due a moment later, by the clock of before.
      const store = beforeAppends(() => {
        if (++appends === 7) throw new Error('cut')
      })
      await expect(workOn(job, { store })).rejects.toThrow()
      const hour = 3_600_000
      const [now, ticks] = [Date.now, performance.now.bind(performance)]
      const clocks = [
        vi.spyOn(Date, 'now').mockImplementation(() => now() - hour),
        vi.spyOn(performance, 'now').mockImplementation(() => ticks() - hour),
      ]
      try {
        const entries = await workOn(job)
        await expectSame(job, entries, outcome)
        const times = entries.filter(({ type }) => type !== 'agent.prompted').map(({ at }) => at)
        expect(times).toEqual(times.toSorted((one, other) => one - other))
      } finally {
        for (const clock of clocks) clock.mockRestore()
      }
    })
  },
  timeout,
)

test(
  'a second engine leaves a run alone that another process is at work on, and takes it up when that was killed',
  async () => {
    const { outcome } = await undisturbed('goes-well')
    const slow = 'practice.cordon_node=late:60000'
    await inWorld(
      'goes-well',
      'second',
      async (job) => {
        let kill: () => void = () => undefined
        const ended = runChild([{ job, death: { append: Infinity, side: 'after' } }], (running) => {
          kill = () => running.kill('SIGKILL')
        })
        while ((await effectsOf(job.url)).length === 0) await sleep(20)
        await expect(workOn(job)).rejects.toMatchObject({ code: 'journal_conflict' })
        const beside = { ...job, procedure: 'keyless', run: 'beside' } as const
        expect(isEnded(await workOn(beside))).toBe(true)
        kill()
        expect(await ended).toBe('SIGKILL')
        const entries = await workOn(job)
        expect(entries.at(-1)).toMatchObject({ type: 'run.finished', data: { status: outcome.status } })
        const own = (await effectsOf(job.url)).filter(({ key }) => key?.startsWith('second/') === true)
        expect(own).toHaveLength(outcome.effects.length)
      },
      slow,
    )
  },
  timeout,
)

test(
  'ten thousand runs that are begun at once come to their end, and their calls are made once',
  async () => {
    const count = 10_000
    const store = openStore(scratch())
    const done: string[] = []
    const act = tool({
      name: 'act',
      description: 'Acts.',
      risk: 'write',
      execute: (_, { idempotencyKey }) => void done.push(idempotencyKey),
    })
    const playbook = definePlaybook({
      id: 'two',
      name: 'Two',
      steps: [
        { id: 'one', tool: 'act' },
        { id: 'other', tool: 'act' },
      ],
    })
    const engine: EmbeddedEngine = await EmbeddedEngine.open({
      store,
      load: async (run) => agentWork(agent, run, { prompt: '' }),
    })
    const agent = new Agent({ model: 'none', playbook, tools: [act], journal: engine.journal })
    const runs = Array.from({ length: count }, (_, index) => `r${index}`)
    const rests = await Promise.all(
      runs.map((run) => engine.start(run, agentWork(agent, run, { prompt: '' }))),
    )
    expect(rests.filter(({ ended }) => ended !== 'succeeded')).toEqual([])
    expect(new Set(done)).toEqual(new Set(runs.flatMap((run) => [`${run}/one`, `${run}/other`])))
    expect(done).toHaveLength(2 * count)
    expect([await engine.runs(), await store.openRuns()]).toEqual([[], []])
    await engine.close()
    await store.close()
  },
  timeout,
)
