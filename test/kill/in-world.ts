/** A fresh world for each run: a folder with a store, and a practice service of its own that outlives whoever works on the run. */
import { join } from 'node:path'
import type { ChainStore } from '../../src/journal/chain-store.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { PracticeService } from '../../src/practice/practice-service.ts'
import { effectsOf, expectOrder, expectProven, outcomeOf, type RunOutcome } from './outcome-of.ts'
import { procedureOf, type ProcedureName } from './procedures.ts'
import { isEnded, workOn, type Job } from './work-on.ts'
import { scratch } from './scratch.ts'

/** Lets a run live in a fresh world, with the faults of its procedure and others. */
export async function inWorld<Result>(
  procedure: ProcedureName,
  run: string,
  live: (job: Job) => Promise<Result>,
  more = '',
): Promise<Result> {
  const folder = scratch()
  const faults = `${procedureOf(procedure).faults},${more}`
  const service = await PracticeService.start({ file: join(folder, 'practice.db'), faults })
  try {
    return await live({ folder, url: service.url, procedure, run })
  } finally {
    await service.close()
  }
}

/** Lets several runs live, each in a fresh world of its own. */
export async function inWorlds<Result>(
  procedure: ProcedureName,
  runs: readonly string[],
  live: (jobs: readonly Job[]) => Promise<Result>,
  jobs: readonly Job[] = [],
): Promise<Result> {
  const run = runs[jobs.length]
  if (run === undefined) return await live(jobs)
  return await inWorld(procedure, run, (job) => inWorlds(procedure, runs, live, [...jobs, job]))
}

/** The run that nothing happens to, and how many appends it takes. */
export async function undisturbed(
  procedure: ProcedureName,
): Promise<{ outcome: RunOutcome; appends: number }> {
  return await inWorld(procedure, `whole-${procedure}`, async (job) => {
    let appends = 0
    const entries = await workOn(job, { store: beforeAppends(() => void appends++) })
    return { outcome: outcomeOf(entries, await effectsOf(job.url)), appends }
  })
}

/** The store, with something done before each append. */
export function beforeAppends(act: () => void): (store: ChainStore) => ChainStore {
  return (store) =>
    new Proxy(store, {
      get(target, name) {
        if (name === 'append') act()
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
}

/** The run ended as the other, did the same to the world in an order that its record allows, and its record is proven. */
export async function expectSame(
  job: Job,
  entries: readonly JournalEntry[],
  want: RunOutcome,
): Promise<void> {
  const effects = await effectsOf(job.url)
  const [got, wanted] = [outcomeOf(entries, effects), want].map((each) => JSON.stringify(each))
  if (got !== wanted) throw new Error(`it ended as ${got} instead of ${wanted}`)
  expectOrder(entries, effects)
  await expectProven(job, isEnded(entries))
}
