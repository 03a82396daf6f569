import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { toJson } from '../shared/to-json.ts'
import {
  journalVersion,
  type AppendOptions,
  type Authorship,
  type JournalEntry,
  type JournalFact,
} from './journal.ts'

/** Run names are file names in some stores, so they are kept plain everywhere. */
export const runNamePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

/** What a store knows of a run before an append. */
export interface RunHead {
  readonly seq: number
  /** The tenant of the run's first entry; null for a run that has none. */
  readonly tenant: string | null
  /** The newest lease that was taken; 0 if none was. */
  readonly epoch: number
}

/** The facts as they will be written, copied so that nobody can change them. Throws `invalid_value` for what cannot be. */
export function copyFacts(run: string, facts: readonly JournalFact[]): readonly JournalFact[] {
  if (!runNamePattern.test(run)) {
    throw new LockstepError(
      'invalid_value',
      `'${run}' cannot name a run: letters, digits, '_' and '-' can, 128 at most.`,
    )
  }
  return facts.map((fact) => ({
    type: readText(fact.type, 'type'),
    at: readTime(fact),
    data: readData(fact),
  }))
}

/** Throws `journal_conflict` if the writer does not know the run as it is (J2), works under an old lease (J5) or for another tenant (J7). */
export function checkHead(run: string, options: AppendOptions, head: RunHead): void {
  checkAuthor(options)
  if (options.expectedSeq !== head.seq) {
    throw conflict(
      `Run ${run} has ${head.seq} entries, and the writer knows of ${options.expectedSeq}: somebody else has written to it.`,
      'Read the run again and continue from there.',
    )
  }
  if (options.leaseEpoch !== undefined && options.leaseEpoch !== head.epoch) {
    throw conflict(
      `Run ${run} is worked on under lease ${head.epoch}, and the writer holds lease ${options.leaseEpoch}.`,
      'Another process has taken the run over. Leave it to that one.',
    )
  }
  if (head.tenant !== null && head.tenant !== options.tenant) {
    throw conflict(`Run ${run} belongs to another tenant.`, 'Name another run.')
  }
}

/** Throws `invalid_value` unless tenant and principal can be written down. */
export function checkAuthor({ tenant, principal }: Authorship): void {
  readText(tenant, 'tenant')
  readText(principal, 'principal')
}

/** Makes the entries of an append, or throws: `journal_conflict` (J2), or `invalid_value` for what cannot be written. */
export function makeEntries(
  run: string,
  facts: readonly JournalFact[],
  options: AppendOptions,
  lastSeq: number,
): JournalEntry[] {
  const copied = copyFacts(run, facts)
  checkHead(run, options, { seq: lastSeq, tenant: null, epoch: options.leaseEpoch ?? 0 })
  return placeFacts(run, copied, options, lastSeq)
}

/** The facts in their places after the last entry; nothing is checked. */
export function placeFacts(
  run: string,
  facts: readonly JournalFact[],
  options: Authorship,
  lastSeq: number,
): JournalEntry[] {
  return facts.map((fact, index) => ({
    v: journalVersion,
    run,
    seq: lastSeq + index + 1,
    at: fact.at,
    tenant: options.tenant,
    principal: options.principal,
    type: fact.type,
    data: fact.data,
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

function readTime({ type, at }: JournalFact): number {
  if (Number.isFinite(at)) return at
  throw new LockstepError('invalid_value', `The fact ${type} has no time: ${String(at)}.`)
}

function readText(text: string, what: string): string {
  if (typeof text === 'string' && text.isWellFormed()) return text
  throw new LockstepError('invalid_value', `What is written down needs a ${what}.`)
}

function conflict(message: string, hint: string): LockstepError {
  return new LockstepError('journal_conflict', message, { consequence: 'pause', hint })
}
