/**
 * The power fails before and after every append of a run: the disk of that moment, with and without what had not reached it, is taken up by a fresh engine.
 * Every effect happens exactly once, the record verifies, and the run ends as the one that nothing happened to.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PracticeService, practiceToolNames } from '../../src/practice/practice-service.ts'
import { readFaults } from '../../src/practice/practice-fault.ts'
import { Camera, develop, type Picture } from './camera.ts'
import { effectsOf, expectOrder, expectProven, outcomeOf, type RunOutcome } from './outcome-of.ts'
import { procedureOf, type ProcedureName } from './procedures.ts'
import { endOf, isEnded, type Job } from './work-on.ts'
import { scratch } from './scratch.ts'

/** Works on what lies in a folder, and checks what came of it; the pictures that were taken on the way, if any were to be. */
async function goOn(
  procedure: ProcedureName,
  folder: string,
  want: RunOutcome | null,
  takes: 'pictures' | 'none' = 'none',
): Promise<{ readonly outcome: RunOutcome; readonly pictures: readonly Picture[] }> {
  const service = await PracticeService.start({ file: join(folder, 'practice.db') })
  try {
    const job: Job = { folder, url: service.url, procedure, run: 'r' }
    if (want === null) {
      for (const fault of readFaults(procedureOf(procedure).faults, practiceToolNames))
        await fetch(`${job.url}/faults`, { method: 'POST', body: JSON.stringify(fault) })
    }
    const camera = takes === 'pictures' ? new Camera(folder) : null
    const entries = await endOf(job, camera === null ? {} : { store: camera.watch })
    const effects = await effectsOf(job.url)
    const outcome = outcomeOf(entries, effects)
    if (want !== null) expect(outcome).toEqual(want)
    expectOrder(entries, effects)
    await expectProven(job, isEnded(entries))
    return { outcome, pictures: camera?.pictures ?? [] }
  } finally {
    await service.close()
  }
}

/** What is wrong with runs that are taken up from pictures; of some of them pictures are taken, and taken up in turn. */
async function goOnAll(procedure: ProcedureName, pictures: readonly Picture[], want: RunOutcome) {
  const problems: string[] = []
  for (const [index, picture] of pictures.entries()) {
    try {
      const takes = index % 6 === 0 ? 'pictures' : 'none'
      const { pictures: later } = await goOn(procedure, develop(picture), want, takes)
      const again = later[Math.floor(later.length / 2)]
      if (again !== undefined) await goOn(procedure, develop(again), want)
    } catch (error) {
      problems.push(`${picture.moment}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return problems
}

/** Until its last step the one that goes well goes as the one that is undone; of what a model does between calls, half is enough. */
function worthTaking(procedure: ProcedureName, pictures: readonly Picture[]): readonly Picture[] {
  if (procedure === 'goes-well') return pictures.slice(-4)
  if (procedure !== 'typed' && procedure !== 'program') return pictures
  return pictures.filter(({ moment }, index) => /tool[.]|approval[.]/.test(moment) || index % 2 === 0)
}

test.each(['is-undone', 'goes-well', 'keyless', 'typed', 'program'] as const)(
  '%s: a power cut at any append, and another one when it is taken up',
  async (procedure) => {
    const first = await goOn(procedure, scratch(), null, 'pictures')
    expect(first.outcome.status).toBe(procedure === 'is-undone' ? 'failed' : 'succeeded')
    const pictures = worthTaking(procedure, first.pictures)
    expect(pictures.length).toBeGreaterThan(3)
    expect(await goOnAll(procedure, pictures, first.outcome)).toEqual([])
  },
)

/** A disk on which the commit between two pictures was written in part: what follows in the log is cut off. Null if nothing was written between them. */
function tear(before: Picture, after: Picture, part: number): Picture | null {
  const name = 'journal.db-wal'
  const [shorter, longer] = [before, after].map(({ disk }) => disk.get(name) ?? Buffer.alloc(0)) as [
    Buffer,
    Buffer,
  ]
  const cut = shorter.length + Math.floor((longer.length - shorter.length) * part)
  if (shorter.length === 0 || cut <= shorter.length) return null
  if (!longer.subarray(0, shorter.length).equals(shorter)) return null
  const disk = new Map(before.disk).set(name, longer.subarray(0, cut))
  return { ...before, disk, moment: `in the middle of ${after.moment}` }
}

test('goes-well: a power cut in the middle of writing a commit', async () => {
  const { outcome, pictures } = await goOn('goes-well', scratch(), null, 'pictures')
  const pairs = pictures.slice(1).map((after, index) => [pictures[index]!, after] as const)
  const torn = pairs.flatMap(
    ([before, after], index) => tear(before, after, ((index * 7) % 20) / 20 + 0.02) ?? [],
  )
  expect(torn.length).toBeGreaterThan(8)
  expect(
    await goOnAll(
      'goes-well',
      torn.filter((_, index) => index % 2 === 0),
      outcome,
    ),
  ).toEqual([])
})
