import type { ApprovalVote } from '../run/approval.ts'
import type { JsonObject } from '../shared/json.ts'
import type { PolicySetup } from '../tool/policy-guard.ts'

/** What a person said where the gateway could not hear it, and the way to forget that it was said. */
export interface HandedVote {
  readonly vote: Omit<ApprovalVote, 'at'>
  /** Called when it is on record, or known not to count. */
  readonly taken: () => void
}

/** The words for a call that waits: its id, who may approve it, and the command for that. */
export interface HeldWords {
  readonly id: string
  /** What it takes, one line for each demand. */
  readonly takes: readonly string[]
  readonly command: string
}

/** The policies that every run of a gateway stands under, and how people reach it. */
export interface GatewayApprovals {
  /** What policies are told of a caller, whose identity is known as the transport established it. */
  readonly setupFor: (principal: string) => PolicySetup
  /** What people have said to a held call since it was last asked for. Never throws. */
  readonly votesOn: (run: string, callId: string) => readonly HandedVote[]
  readonly wordsFor: (held: {
    readonly run: string
    readonly callId: string
    readonly demands: readonly JsonObject[]
    readonly requesters: readonly string[]
  }) => HeldWords
}

/** What can be asked of the person at a client, and what they answered. */
export interface ClientPerson {
  /** Whether the client takes a form in the answer to a call, and sends the call again with what was filled in. */
  readonly canAsk: boolean
  readonly answers: Readonly<Record<string, unknown>>
}

/** A client that can be asked nothing. */
export const nobodyToAsk: ClientPerson = { canAsk: false, answers: {} }
