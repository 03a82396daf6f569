/**
 * Which names of runs, and which snapshots, this process has used where no journal keeps watch.
 *
 * Invariants
 * N1  Idempotency keys are made of the run's name and the call's id: a name that was used is not used for another run.
 * N2  A snapshot from which a run has gone on is not taken up again: what was done since would be done twice.
 */
import { runNamePattern } from '../journal/check-append.ts'
import type { Journal, JournalEntry } from '../journal/journal.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

const names = new Set<string>()
const takenUp = new Set<string>()

/** Throws `usage` for what cannot name a run, `run_exists` for the name of another one (N1). */
export async function refuseName(run: string, journal: Journal | null): Promise<void> {
  if (typeof run !== 'string' || !runNamePattern.test(run)) {
    throw new LockstepError('usage', `${JSON.stringify(run) ?? String(run)} cannot name a run.`, {
      hint: "Letters, digits, '_' and '-' can, beginning with a letter or digit, 128 at most.",
    })
  }
  if (journal !== null && (await journal.read(run)).length > 0) throw taken(run)
}

/** Uses a name for a run. Without a journal only this process knows of it, and throws `run_exists` if it was used (N1). */
export function claimName(run: string, journal: Journal | null): void {
  if (journal !== null) return
  if (names.has(run)) throw taken(run)
  names.add(run)
}

/** Throws `journal_conflict` if a run has gone on from this snapshot in this process, and no journal knows where to (N2). */
export function refuseUsed(run: string, entries: readonly JournalEntry[], journal: Journal | null): void {
  if (journal !== null || !takenUp.has(keyOf(run, entries.length))) return
  throw new LockstepError(
    'journal_conflict',
    `Run ${run} has gone on since this snapshot: taken up again, it would do the same twice.`,
    {
      consequence: 'pause',
      hint: 'Resume the snapshot that the last run or resume returned, or use a journal.',
    },
  )
}

/** Notes that a run has gone on from a snapshot, if it has and no journal knows of it. */
export function markUsed(run: string, before: number, after: number, journal: Journal | null): void {
  if (journal === null && after > before) takenUp.add(keyOf(run, before))
}

function keyOf(run: string, length: number): string {
  return `${length} ${run}`
}

function taken(run: string): LockstepError {
  return new LockstepError('run_exists', `There is a run '${run}' already.`, {
    hint: `Name the new one otherwise, or take that one up: resume('${run}').`,
  })
}
