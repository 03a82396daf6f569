/** What can be wrong with a record. */
export type FindingKind =
  | 'unreadable'
  | 'edit'
  | 'deletion'
  | 'reordering'
  | 'truncation'
  | 'missing_run'
  | 'forged_decision'
  | 'uncovered_call'
  | 'halted_call'
  | 'forged_signature'

/** Something that is wrong, and where. */
export interface Finding {
  readonly kind: FindingKind
  /** The run, or the chain of a tenant; null where it is about the export as a whole. */
  readonly chain: string | null
  readonly seq: number | null
  readonly message: string
}

/** Something that was taken on the record's word, or could not be looked at. */
export interface Unchecked {
  readonly chain: string
  readonly seq: number | null
  readonly why: string
}

/** What was found out about one chain. */
export interface ChainReport {
  readonly chain: string
  readonly entries: number
  /** The hash of the last entry; null for a record that was kept without a chain. */
  readonly head: string | null
  /** How many events of the run machine were decided again, with the same result. */
  readonly recomputed: number
  /** Whether a checkpoint that was kept elsewhere vouches for the last entry. */
  readonly covered: boolean
  /** How the run ended; null while it goes on, and for a tenant's chain. */
  readonly status: string | null
}

/** What an export proves. */
export interface Verdict {
  /**
   * `proven`: nothing is wrong, and a checkpoint and a public key that were kept elsewhere vouch for all of it. `consistent`: nothing is
   * wrong within the export. `broken`: something is.
   */
  readonly verdict: 'proven' | 'consistent' | 'broken'
  readonly findings: readonly Finding[]
  readonly chains: readonly ChainReport[]
  readonly notRecomputable: readonly Unchecked[]
  /** How many runs the tenants' chains opened and closed, and which are missing; null where the export does not hold those chains. */
  readonly runs: {
    readonly opened: number
    readonly closed: number
    readonly missing: readonly string[]
    /** The time they were opened in, from the manifest, which nobody signed; null for all times. */
    readonly period: { readonly from: number; readonly to: number } | null
  } | null
  /** What no verdict says, in sentences. */
  readonly notProven: readonly string[]
}
