import type { JournalEntry, Records } from '../app.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { heldCalls, type HeldCall } from '../overview/held-call.ts'

const mostShown = 5

/** A call that was held, and the record of its run. */
export interface FoundCall {
  readonly call: HeldCall
  readonly entries: readonly JournalEntry[]
}

/** Every call that was ever held in a data folder. A record that cannot be read is told of, and passed over. */
export async function readHeldCalls(
  records: Pick<Records, 'runs' | 'read'>,
  now: number,
  onUnreadable: (run: string) => void,
): Promise<readonly FoundCall[]> {
  const found: FoundCall[] = []
  for (const run of await records.runs()) {
    try {
      const entries = await records.read(run)
      for (const call of heldCalls(entries, now)) found.push({ call, entries })
    } catch {
      onUnreadable(run)
    }
  }
  return found
}

/** The call with the id, or the only one whose id begins so. Throws `usage`. */
export function findHeldCall(calls: readonly FoundCall[], wanted: string): FoundCall {
  const matching = calls.filter(({ call }) => call.id.startsWith(wanted))
  const [only] = matching
  if (only !== undefined && matching.length === 1) return only
  if (matching.length > 1) {
    const ids = matching.slice(0, mostShown).map(({ call }) => `${call.id} (run ${call.run})`)
    throw new LockstepError('usage', `${matching.length} approvals begin with ${wanted}`, {
      hint: `say more of the id: ${ids.join(', ')}`,
    })
  }
  throw new LockstepError('usage', `there is no approval ${wanted}`, {
    hint: 'see which there are: lockstep approvals',
  })
}
