import type { Records } from '../app.ts'
import { readInstant } from '../policy/read-instant.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

/** From when to before when. */
export type Period = Parameters<Records['exportPeriod']>[0]

const day = 86_400_000

/**
 * The time between two dates, both of which belong to it, in UTC; a time of day is meant to the second. What is left out is open. Throws
 * `usage` for what is no date, and for an end before the beginning.
 */
export function readPeriod(from: string | undefined, to: string | undefined): Period {
  const begin = from === undefined ? 0 : readTime('--from', from, 0)
  const end = to === undefined ? Number.MAX_SAFE_INTEGER : readTime('--to', to, day)
  if (begin >= end) throw new LockstepError('usage', `--to ${to} comes before --from ${from}`)
  return { from: begin, to: end }
}

function readTime(option: string, text: string, whole: number): number {
  const date = readInstant(`${text}T00:00:00Z`)
  const time = date === null ? readInstant(text) : date + whole
  if (time !== null) return time
  throw new LockstepError('usage', `${option} ${text} is no date`, {
    hint: 'write 2026-10-01, or 2026-10-01T08:00:00Z for a time of that day',
  })
}
