import type { Records } from '../app.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

const mostShown = 5
/** A name as a run is given; a shorter one may just be wrong. */
const fullName = /^(?:r|dry)_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The run of that name, or the only one whose name begins so. Throws `usage`, with the runs that could be taken up. */
export async function findRun(
  records: Pick<Records, 'runs' | 'read'>,
  wanted: string | undefined,
): Promise<string> {
  const runs = await records.runs()
  if (wanted !== undefined && runs.includes(wanted)) return wanted
  const matching = wanted === undefined || wanted === '' ? [] : runs.filter((run) => run.startsWith(wanted))
  if (matching.length === 1) return matching[0]!
  if (matching.length > 1) {
    throw new LockstepError('usage', `${matching.length} runs begin with ${wanted}`, {
      hint: `say more of the name: ${matching.slice(0, mostShown).join(', ')}`,
    })
  }
  const open = await unfinished(records, runs)
  throw new LockstepError(
    'usage',
    wanted === undefined ? 'resume takes a run' : `there is no run ${wanted}`,
    {
      hint:
        wanted !== undefined && fullName.test(wanted)
          ? 'nothing is recorded here under that name: if it was begun here, it was cut off before anything was done'
          : open.length === 0
            ? 'no recorded run waits to be taken up'
            : `these have not ended: ${open.join(', ')}`,
    },
  )
}

/** The last runs that have not ended, the newest first. */
async function unfinished(records: Pick<Records, 'read'>, runs: readonly string[]): Promise<string[]> {
  const open: { readonly run: string; readonly at: number }[] = []
  for (const run of runs) {
    // A record that cannot be read is no help here; whoever names it hears why.
    const entries = await records.read(run).catch(() => [])
    const last = entries.at(-1)
    if (last !== undefined && entries.every(({ type }) => type !== 'run.finished'))
      open.push({ run, at: last.at })
  }
  return open
    .toSorted((one, other) => other.at - one.at)
    .slice(0, mostShown)
    .map(({ run }) => run)
}
