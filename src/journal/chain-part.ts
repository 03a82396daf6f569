import type { SealedEntry } from './chain.ts'
import type { Checkpoint } from './chain-checkpoint.ts'

/** Which part of a chain is asked for, from its end backwards. */
export interface PartQuery {
  /** Only entries with a smaller number. */
  readonly before?: number | null | undefined
  /** Only entries of this time: `from` is the first moment, `to` the first that is too late. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly type?: string | undefined
  readonly by?: string | undefined
  /** How many entries at most. */
  readonly most: number
}

/** A part of a chain, the newest entry first. */
export interface ChainPart {
  readonly entries: readonly SealedEntry[]
  /** The number before which there may be more; null where there is nothing more. */
  readonly next: number | null
}

/** A part of the checkpoints of a chain, the newest first. */
export interface CheckpointPart {
  readonly checkpoints: readonly Checkpoint[]
  /** Where it goes on; null at the end. */
  readonly next: number | null
}
