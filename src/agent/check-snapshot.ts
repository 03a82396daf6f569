import { journalVersion, type JournalEntry } from '../journal/journal.ts'
import { isRunEventType } from '../run/event-type.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { AgentFact } from './agent-event.ts'
import type { AgentSnapshot } from './agent-options.ts'

/** Throws `invalid_snapshot` for what is no snapshot of one run: another shape, version or run, a gap, a fact that nobody knows. */
export function checkSnapshot(snapshot: unknown): asserts snapshot is AgentSnapshot {
  const { run, entries } = partOf(snapshot)
  if (typeof run !== 'string' || !Array.isArray(entries)) {
    throw invalid('A snapshot is { run, entries }, as a result has it, or the name of a run in the journal.')
  }
  for (const [index, entry] of entries.entries()) {
    const why = whyNot(run, index + 1, partOf(entry))
    if (why !== null) throw invalid(`Entry ${index + 1} of the snapshot of run ${run} ${why}.`)
  }
}

function whyNot(run: string, seq: number, entry: Readonly<Record<string, unknown>>): string | null {
  const { type, at, data } = entry
  if (entry['v'] !== journalVersion) return `is of version ${String(entry['v'])}, not ${journalVersion}`
  if (entry['run'] !== run) return 'belongs to another run'
  if (entry['seq'] !== seq)
    return `has the number ${String(entry['seq'])}: one is missing, repeated or out of place`
  if (typeof type !== 'string' || !(isRunEventType(type) || Object.hasOwn(facts, type)))
    return `is of no kind that is known: ${String(type)}`
  if (typeof at !== 'number' || !Number.isFinite(at)) return 'has no time'
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 'says nothing'
  if (typeof entry['tenant'] !== 'string' || typeof entry['principal'] !== 'string')
    return 'does not say on whose behalf'
  return null
}

/** Does what follows from entries. Throws `invalid_snapshot` where they do not make a run, whatever it breaks on. */
export function fromEntries<Value>(
  entries: readonly JournalEntry[],
  read: (entries: readonly JournalEntry[]) => Value,
): Value {
  try {
    return read(entries)
  } catch (error) {
    if (LockstepError.isInstance(error) && error.code !== 'internal') throw error
    throw new LockstepError(
      'invalid_snapshot',
      'These entries do not follow from one another: they are no run.',
      {
        hint: 'Use the entries as they were written, all of them.',
        cause: error,
      },
    )
  }
}

/** The members of a value that may be anything. */
function partOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

function invalid(message: string): LockstepError {
  return new LockstepError('invalid_snapshot', message, { hint: 'Use the snapshot as a run returned it.' })
}

/** What an agent writes down besides the events of the run. */
const facts: Readonly<Record<AgentFact['type'], true>> = {
  'agent.prompted': true,
  'agent.delegated': true,
  'agent.returned': true,
  'model.answered': true,
  'tool.returned': true,
  'approval.decided': true,
  'agent.reminded': true,
  'model.consulted': true,
}
