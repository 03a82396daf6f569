import { journalVersion, type JournalEntry } from '../journal/journal.ts'
import type { RunEvent } from '../run/event.ts'
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
  if (typeof type !== 'string' || !Object.hasOwn(known, type))
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

const known: Readonly<Record<RunEvent['type'] | AgentFact['type'], true>> = {
  'run.started': true,
  'tool.admitted': true,
  'tool.held': true,
  'approval.voted': true,
  'approval.expired': true,
  'tool.denied': true,
  'tool.settled': true,
  'tool.unadmitted': true,
  'step.opened': true,
  'step.undecided': true,
  'step.completed': true,
  'step.skipped': true,
  'step.failed': true,
  'step.escalated': true,
  'step.retried': true,
  'step.refused': true,
  'iteration.started': true,
  'finish.refused': true,
  'run.paused': true,
  'run.unpaused': true,
  'cancel.requested': true,
  'compensation.begun': true,
  'run.finished': true,
  'playbook.begun': true,
  'playbook.described': true,
  'playbook.returned': true,
  'playbook.failed': true,
  'step.entered': true,
  'branch.taken': true,
  'branch.passed': true,
  'branch.ended': true,
  'loop.turned': true,
  'loop.continued': true,
  'variable.set': true,
  'call.due': true,
  'act.begun': true,
  'act.done': true,
  'question.asked': true,
  'question.answered': true,
  'message.sent': true,
  'person.awaited': true,
  'message.received': true,
  'message.handled': true,
  'wait.begun': true,
  'trigger.set': true,
  'trigger.changed': true,
  'trigger.fired': true,
  'call.readied': true,
  'call.followed': true,
  'failure.handled': true,
  'program.ending': true,
  'agent.prompted': true,
  'agent.delegated': true,
  'agent.returned': true,
  'model.answered': true,
  'tool.returned': true,
  'approval.decided': true,
  'agent.reminded': true,
  'model.consulted': true,
}
