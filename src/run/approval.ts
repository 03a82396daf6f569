import type { Json, JsonObject } from '../shared/json.ts'

/** What one person said to a call that waits for approval. */
export interface ApprovalVote {
  readonly person: string
  /** How it was established who they are. */
  readonly identity: string
  readonly roles: readonly string[]
  readonly at: number
  readonly answer: 'approve' | 'deny'
  readonly reason: string | null
}

/** Where an approval stands. A timeout is not a denial by a person. */
export type ApprovalState = 'waiting' | 'granted' | 'denied' | 'expired'

/** The approval that a held call waits for: what it takes, and what was said so far. */
export interface Approval {
  readonly askedAt: number
  /** When it can no longer be given. */
  readonly expiresAt: number
  /** What it takes, as the policies said. */
  readonly demands: readonly JsonObject[]
  readonly votes: ApprovalVote[]
  state: ApprovalState
}

/**
 * What policies say to a call. The machine knows no policies: their verdict enters as a fact, and is recorded with the decision
 * that it served, so that both can be made again.
 */
export interface PolicyFact {
  readonly verdict: 'allow' | 'needs_approval' | 'deny'
  readonly code: string
  readonly reason: string
  /** What an approval takes, and for how long it may be given; only where one is needed. */
  readonly demands: readonly JsonObject[]
  readonly expiresAfterSeconds: number
  /** The whole decision and what it was made from, for the record. */
  readonly record: { readonly [member: string]: Json }
}
