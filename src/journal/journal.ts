/**
 * The record of runs: for each run a list of events that only grows.
 *
 * Owns: the format of an entry, and the rules every store keeps.
 *
 * Invariants
 * J1  Entries of a run are numbered from 1 without gaps, in the order in which they were appended.
 * J2  `append` is all or nothing, and succeeds only if the run's last number is the one the writer expects.
 * J3  What `append` returned is durable as far as the store promises; what it did not return may be there or not.
 * J4  An entry is never changed or removed.
 * J5  Once a lease of a run was taken, a writer that names an older one appends nothing.
 * J6  What an append reserves and what it writes down happen together or not at all. A lock has one holder in its tenant, until the
 *     holder gives it back or its run is finished. A counter never goes above the limit that a reservation names.
 * J7  A run belongs to the tenant of its first entry.
 * J8  While a tenant is halted, an append that asks for it not to be writes nothing.
 */
import type { JsonObject } from '../shared/json.ts'
import type { CallLedger } from './call-ledger.ts'

/** The version of the entry format; a reader refuses one it does not know. */
export const journalVersion = 1

/** A fact to be written down: what kind, when, and what about it. */
export interface JournalFact {
  /** `noun.past`: what happened. */
  readonly type: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly data: JsonObject
}

/** On whose behalf something happened. */
export interface Authorship {
  readonly tenant: string
  readonly principal: string
}

/** A fact in its place. */
export interface JournalEntry extends JournalFact, Authorship {
  readonly v: typeof journalVersion
  readonly run: string
  readonly seq: number
}

/** What several runs of a tenant share, asked for together with an append (J6). */
export type Reservation =
  | { readonly kind: 'counter'; readonly key: string; readonly amount: number; readonly limit: number }
  | { readonly kind: 'lock'; readonly key: string }
  /** The tenant is not halted (J8). */
  | { readonly kind: 'unhalted' }

/** Who halted a tenant: none of its runs has an effect until somebody lets them go on. */
export interface Halt {
  readonly by: string
  readonly at: number
  readonly reason: string
}

/** What a run gives back, together with the facts that say why. A lock it does not hold is no matter. */
export type Release =
  | { readonly kind: 'counter'; readonly key: string; readonly amount: number }
  | { readonly kind: 'lock'; readonly key: string }

/** Who writes, and after which entry: the guard against two writers. */
export interface AppendOptions extends Authorship {
  /** The number of the run's last entry as the writer knows it; 0 for a new run. */
  readonly expectedSeq: number
  /** The lease under which the writer works, where writers take leases (J5). */
  readonly leaseEpoch?: number | undefined
  readonly reservations?: readonly Reservation[] | undefined
  readonly releases?: readonly Release[] | undefined
}

/** Where entries are kept. Every implementation passes the suite in journal.suite.ts. */
export interface Journal {
  /** Counts what all runs of a tenant did; absent where the store counts nothing. */
  readonly ledger?: CallLedger | undefined
  /**
   * Appends facts to a run. Throws `journal_conflict` if the run's last entry is not the expected one or the lease is an old one,
   * `reservation_refused` if something is not to be had, `not_available` if the store shares nothing between runs.
   */
  append(run: string, facts: readonly JournalFact[], options: AppendOptions): Promise<readonly JournalEntry[]>
  /** The entries of a run, in order, from the given number on; empty if there is no such run. */
  read(run: string, fromSeq?: number): Promise<readonly JournalEntry[]>
  /** The runs there are, in the order of their names. */
  runs(): Promise<readonly string[]>
  /** Lets go of whatever the store holds; appending afterwards throws. */
  close(): Promise<void>
}

/** A journal whose writers can be replaced: who takes a lease over shuts out whoever held it before (J5). */
export interface LeasedJournal extends Journal {
  /** A lease on the run: a number greater than every one given out for it so far. */
  takeLease(run: string): Promise<number>
}

/** The facts that end a run; what a run locked is free again after one (J6). */
export const closingTypes: ReadonlySet<string> = new Set(['run.finished'])
