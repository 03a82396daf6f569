/**
 * A process that works on a run is killed by SIGKILL before and after the commit of every append, and inside calls; some are killed again when they take
 * the run up. The practice service lives on elsewhere. Whoever takes the run up last ends it as the run ends that nobody killed: every effect exactly once,
 * and the record verifies.
 */
import { expect, test } from 'vitest'
import { expectSame, inWorld, inWorlds, undisturbed } from './in-world.ts'
import type { Death } from './killed-child.ts'
import { expectProven, type RunOutcome } from './outcome-of.ts'
import type { ProcedureName } from './procedures.ts'
import { runChild } from './run-child.ts'
import { endOf, workOn, type Job } from './work-on.ts'

/** A whole minute, with room for a busy machine. */
const timeout = 240_000

/** How many runs a child works on that is killed in the middle of all of them. */
const together = 8

/** What is wrong with a run that was killed at these moments one after another; null for nothing. */
async function survive(
  procedure: ProcedureName,
  run: string,
  deaths: readonly Death[],
  want: RunOutcome,
): Promise<string | null> {
  return await inWorld(procedure, run, async (job) => {
    for (const [index, death] of deaths.entries()) {
      const ended = await runChild([{ job, death }])
      // Who is killed again may have had less left to do than that.
      if (ended !== 'SIGKILL' && !(index > 0 && ended === '0 ')) return `was not killed: ${ended}`
    }
    return await problemOf(job, want)
  })
}

/** What is wrong with runs that were killed together, each at its own moment, in their order. */
async function surviveTogether(
  procedure: ProcedureName,
  runs: readonly string[],
  deaths: readonly Death[],
  want: RunOutcome,
): Promise<(string | null)[]> {
  return await inWorlds(procedure, runs, async (jobs) => {
    const ended = await runChild(jobs.map((job, index) => ({ job, death: deaths[index]! })))
    if (ended !== 'SIGKILL') return jobs.map(() => `was not killed: ${ended}`)
    const problems: (string | null)[] = []
    for (const job of jobs) problems.push(await problemOf(job, want))
    return problems
  })
}

/** Takes the run up, and says what is wrong with it then. */
async function problemOf(job: Job, want: RunOutcome): Promise<string | null> {
  try {
    await expectSame(job, await workOn(job), want)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Has each list of deaths survived, two processes at a time; what went wrong, by its list. */
async function surviveAll(procedure: ProcedureName, all: readonly (readonly Death[])[], want: RunOutcome) {
  const problems: Record<string, string> = {}
  // Inside a call only one run can die: the service answers the others meanwhile.
  const single = all
    .filter((deaths) => deaths.length === 1 && 'append' in deaths[0]!)
    .map(([death]) => death!)
  const others = all.filter((deaths) => deaths.length > 1 || !('append' in deaths[0]!))
  const groups = Array.from({ length: Math.ceil(single.length / together) }, (_, index) =>
    single.slice(index * together, (index + 1) * together),
  )
  const tasks = [
    ...groups.map((deaths, group) => async () => {
      const runs = deaths.map((_, index) => `${procedure}-${group}-${index}`)
      const found = await surviveTogether(procedure, runs, deaths, want)
      for (const [index, problem] of found.entries())
        if (problem !== null) problems[JSON.stringify(deaths[index])] = problem
    }),
    ...others.map((deaths, index) => async () => {
      const problem = await survive(procedure, `${procedure}-${index}`, deaths, want)
      if (problem !== null) problems[JSON.stringify(deaths)] = problem
    }),
  ]
  const worker = async () => {
    for (let next = tasks.shift(); next !== undefined; next = tasks.shift()) await next()
  }
  await Promise.all([worker(), worker()])
  return problems
}

function at(append: number, side: 'before' | 'after' = 'after'): Death {
  return { append, side }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

test(
  'a runbook that is undone, killed before and after every append and inside every call that writes',
  async () => {
    const { outcome, appends } = await undisturbed('is-undone')
    expect(outcome).toMatchObject({ status: 'failed', undone: expect.objectContaining({ length: 5 }) })
    expect(outcome.effects).toHaveLength(13)
    // What runs side by side is written in a few appends more or less: the last two may not come.
    const sure = range(appends - 2)
    const deaths = sure.flatMap((append) => [[at(append, 'before')], [at(append)]])
    const calls = outcome.effects.map((effect) => [{ call: effect.split(' ')[0]! }])
    const often = [
      [at(3), at(2, 'before')],
      [at(10, 'before'), at(1), { call: 'fence[1]' }],
      [{ call: 'deploy' }, at(4, 'before'), at(3)],
      [at(16), { call: 'deploy!' }, at(2, 'before')],
      [{ call: 'fence[2]!' }, at(1, 'before'), { call: 'cordon!' }],
      [at(2), at(1), at(1)],
    ]
    expect(await surviveAll('is-undone', [...deaths, ...calls, ...often], outcome)).toEqual({})
  },
  timeout,
)

test.each(['goes-well', 'typed', 'program'] as const)(
  '%s, killed at a few places and again',
  async (procedure) => {
    const { outcome, appends } = await undisturbed(procedure)
    expect(outcome.status).toBe('succeeded')
    // Until its last step the runbook goes as the one that is undone.
    const parts = procedure === 'goes-well' ? [3, 4] : range(4)
    const some = parts.map((part) => Math.floor((part * (appends - 2)) / 4))
    const deaths = some.flatMap((append, index) => [[at(append, index % 2 === 0 ? 'before' : 'after')]])
    const often = [[at(some[1]!), at(2)]]
    expect(await surviveAll(procedure, [...deaths, ...often], outcome)).toEqual({})
  },
  timeout,
)

test(
  'a call that nobody can ask about is reported as unknown when it may have been made, and waits until somebody says',
  async () => {
    const { outcome, appends } = await undisturbed('keyless')
    expect(outcome).toMatchObject({ status: 'succeeded', effects: { length: 2 } })
    expect(appends).toBe(4)
    const deaths = range(4).flatMap((append) => [at(append, 'before'), at(append)])
    const mayBeMade = [JSON.stringify(at(2)), JSON.stringify(at(3, 'before')), '{"call":"restart"}']
    const waited: string[] = []
    const made: boolean[] = []
    const takeUp = async (job: Job, death: Death) => {
      const entries = await endOf(job, {}, async (record, isMade) => {
        waited.push(JSON.stringify(death))
        made.push(isMade)
        const { callId } = record.at(-1)!.data
        expect(callId).toBe('restart')
        await expectProven(job, false)
      })
      await expectSame(job, entries, outcome)
    }
    const runs = deaths.map((_, index) => `keyless-${index}`)
    await inWorlds('keyless', runs, async (jobs) => {
      const fates = jobs.map((job, index) => ({ job, death: deaths[index]! }))
      expect(await runChild(fates)).toBe('SIGKILL')
      for (const { job, death } of fates) await takeUp(job, death)
    })
    await inWorld('keyless', 'keyless-call', async (job) => {
      const death = { call: 'restart' }
      expect(await runChild([{ job, death }])).toBe('SIGKILL')
      await takeUp(job, death)
    })
    expect(waited).toEqual(mayBeMade)
    expect(made).toEqual([false, true, true])
  },
  timeout,
)
