import type { SealedEntry } from './chain.ts'
import type { Checkpoint, Signature } from './chain-checkpoint.ts'
import type { JsonObject } from '../shared/json.ts'
import type { ChainPart, CheckpointPart, PartQuery } from './chain-part.ts'
import type { Authorship, Halt, JournalEntry, JournalFact, LeasedJournal } from './journal.ts'
import type { StoreChanges, StoreMark } from './store-changes.ts'

/** What proves who somebody is. It lies beside the chains, readable with the server's key only, and is never exported. */
export interface Credential {
  /** Unlike that of any other credential of the store. */
  readonly id: string
  readonly tenant: string
  readonly kind: string
  readonly body: JsonObject
}

/** What an administrative act changes besides the chain. */
export interface AdministerOptions {
  readonly keep?: readonly Omit<Credential, 'tenant'>[]
  /** The ids of credentials that are no more; one that is not there is no matter. */
  readonly forget?: readonly string[]
  /** The number of the last administrative entry that the writer knows of; 0 for none. */
  readonly after?: number
}

/** A journal whose record can be proven: chained, authenticated and signed, with payloads that can be erased. */
export interface ChainStore extends LeasedJournal {
  /** Says whether there is such a run. */
  has(run: string): Promise<boolean>
  /** The runs that have not ended, of one tenant or of all, in the order in which they were opened. */
  openRuns(tenant?: string): Promise<readonly string[]>
  /** Which runs were written to after a mark, or at all, looking through so many commits at most. */
  changesSince(mark: StoreMark | null, most: number): Promise<StoreChanges>
  /** Keeps other processes from writing to a run until it ends or the store is closed. Throws `journal_conflict` if one is at work on it. */
  claim(run: string): Promise<void>
  /** The entries of a chain, a run's or a tenant's, with all that proves them; nothing is checked. */
  sealed(chain: string): Promise<readonly SealedEntry[]>
  /** A part of a chain from its end backwards; nothing is checked. */
  part(chain: string, query: PartQuery): Promise<ChainPart>
  /** A part of the checkpoints that name the chain, the newest first, before the given place. */
  checkpointPart(chain: string, before: number | null, most: number): Promise<CheckpointPart>
  /** The tenants there are. */
  tenants(): Promise<readonly string[]>
  /** Every checkpoint that names the chain, oldest first. */
  checkpoints(chain: string): Promise<readonly Checkpoint[]>
  /** Signs where the run and its tenant stand now. Throws `invalid_value` if there is no such run. */
  checkpoint(run: string, at: number): Promise<Checkpoint>
  /** Signs a text, whose first line says what for. */
  sign(text: string): Signature
  /** The public keys by their id, in PEM. */
  publicKeys(): Readonly<Record<string, string>>
  /**
   * Writes what was done to the tenant itself into its chain, together with the credentials that this makes or ends. Throws
   * `journal_conflict` if the writer names the last act it knows of and there is a newer one.
   */
  administer(facts: readonly JournalFact[], author: Authorship, options?: AdministerOptions): Promise<void>
  /**
   * What was done to the tenant itself, in order, from after the given number on; found without reading what its chain says of runs. Throws
   * `journal_unreadable` at the first entry that is not what was written.
   */
  administered(tenant: string, afterSeq?: number): Promise<readonly JournalEntry[]>
  /** The credentials of a kind, of all tenants. Throws `journal_unreadable` for one that this server did not write. */
  credentials(kind: string): Promise<readonly Credential[]>
  /** Stops every run of the tenant before its next effect (J8), and writes that into its chain; false if it was halted already. */
  halt(author: Authorship, halt: Pick<Halt, 'at' | 'reason'>): Promise<boolean>
  /** Lets the runs of the tenant go on, and writes that into its chain; false if they were not halted. */
  unhalt(author: Authorship, why: Pick<Halt, 'at' | 'reason'>): Promise<boolean>
  /** Who halted the tenant; null while nobody has. */
  halted(tenant: string): Promise<Halt | null>
  /** What the runs of a tenant have locked. */
  locks(tenant: string): Promise<readonly { readonly key: string; readonly run: string }[]>
  /** Erases the payloads of a run for good; the chain stays valid, and the tenant's chain says that it was done. */
  erase(run: string, author: Authorship & { readonly at: number }): Promise<void>
  /** Keeps a text that runs refer to by its digest, and gives that digest. */
  keep(text: string): Promise<string>
  /** The text with the digest; null if none was kept. */
  kept(digest: string): Promise<string | null>
}
