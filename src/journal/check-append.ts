import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { toJson } from '../shared/to-json.ts'
import { journalVersion, type AppendOptions, type JournalEntry, type JournalFact } from './journal.ts'

/** Run names are file names in some stores, so they are kept plain everywhere. */
const runName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

/** Makes the entries of an append, or throws: `journal_conflict` (J2), or `invalid_value` for what cannot be written. */
export function makeEntries(
  run: string,
  facts: readonly JournalFact[],
  options: AppendOptions,
  lastSeq: number,
): JournalEntry[] {
  if (!runName.test(run)) {
    throw new LockstepError(
      'invalid_value',
      `'${run}' cannot name a run: letters, digits, '_' and '-' can, 128 at most.`,
    )
  }
  if (options.expectedSeq !== lastSeq) {
    throw new LockstepError(
      'journal_conflict',
      `Run ${run} has ${lastSeq} entries, and the writer knows of ${options.expectedSeq}: somebody else has written to it.`,
      { consequence: 'pause', hint: 'Read the run again and continue from there.' },
    )
  }
  return facts.map((fact, index) => ({
    v: journalVersion,
    run,
    seq: lastSeq + index + 1,
    at: fact.at,
    tenant: options.tenant,
    principal: options.principal,
    type: fact.type,
    data: readData(fact),
  }))
}

function readData(fact: JournalFact): JsonObject {
  const reading = toJson(fact.data)
  if (reading.problem === null) return reading.value as JsonObject
  throw new LockstepError(
    'invalid_value',
    `The fact ${fact.type} cannot be written down: ${reading.problem}.`,
  )
}
