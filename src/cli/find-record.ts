import type { Records } from '../app.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

const mostShown = 5

/** The recorded run of that name, or the only one whose name begins so. Throws `usage`. */
export async function findRecord(records: Pick<Records, 'runs'>, wanted: string): Promise<string> {
  const runs = await records.runs()
  if (runs.includes(wanted)) return wanted
  const matching = wanted === '' ? [] : runs.filter((run) => run.startsWith(wanted))
  if (matching.length === 1) return matching[0]!
  if (matching.length === 0)
    throw new LockstepError('usage', `there is no run ${wanted}`, {
      hint: 'see which there are: lockstep runs',
    })
  throw new LockstepError('usage', `${matching.length} runs begin with ${wanted}`, {
    hint: `say more of the name: ${matching.slice(0, mostShown).join(', ')}`,
  })
}
