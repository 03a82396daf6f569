import { LockstepError } from '../shared/lockstep-error.ts'
import type { Person } from './person.ts'
import { describeKind } from './refuse-strangers.ts'

/** What the person says next; throws `usage` for anything that is neither a text nor null, before any of it is written down. */
export async function hearPerson(person: Person, signal: AbortSignal): Promise<string | null> {
  const heard: unknown = await person.hear(signal)
  if (heard === null || typeof heard === 'string') return heard
  throw new LockstepError(
    'usage',
    `A person says a text, or null for nothing more; hear gave ${describeKind(heard)}.`,
    { hint: 'Make a text of it: String(value).' },
  )
}
