import type { Json, JsonObject } from '../shared/json.ts'
import type { Mover } from './activation.ts'
import type { ApprovalState, ApprovalVote } from './approval.ts'
import type { DenialCode } from './denial-code.ts'
import type { FoundOut } from './found-out.ts'
import type { ProgramEvent } from './program/program-event.ts'
import type { RecordedFacts } from './recorded-facts.ts'
import type { Outcome, Undo } from './ticket.ts'

/** The ways a run can end. */
export const runEnds = ['succeeded', 'incomplete', 'failed', 'cancelled'] as const

export type RunEnd = (typeof runEnds)[number]

/** The limits a step or a run can reach. */
export type Limit = 'max_tool_calls' | 'timeout_seconds' | 'max_iterations'

/** A fact about a run. Everything a run is follows from its events alone; steps are named by id, times are epoch milliseconds. */
export type RunEvent = { readonly at: number } & (
  | {
      readonly type: 'run.started'
      readonly semantics: number
      readonly run: string
      readonly playbook: string
      readonly inputs: JsonObject
      readonly enforced: boolean
      readonly finishAttempts: number
      /** Absent where calls are really made. */
      readonly mode?: 'dry-run'
      /** The digest of the list of tools it was begun with; absent where there was none. */
      readonly tools?: string
    }
  | {
      readonly type: 'tool.admitted'
      readonly callId: string
      readonly tool: string
      readonly args: JsonObject | null
      readonly step: string | null
      readonly extra: boolean
      readonly observed: DenialCode | null
      /** What the call acts on, where its tool says. */
      readonly target?: string
      /** What policies said, and from what; absent where none are asked. */
      readonly policy?: JsonObject
      readonly facts?: RecordedFacts
      /** The rules of the playbook that depend on what nobody knows in a dry run, and so were not judged. */
      readonly open?: readonly string[]
      /** The succeeded call that this one undoes. */
      readonly undoes?: string
      /** The earlier attempt whose approval covers this one, because nothing came of it. */
      readonly approvedAs?: string
    }
  /** The call may be made once people have approved it; its place is reserved. */
  | {
      readonly type: 'tool.held'
      readonly callId: string
      readonly tool: string
      readonly args: JsonObject | null
      readonly step: string | null
      readonly extra: boolean
      readonly observed: DenialCode | null
      readonly target?: string
      readonly message: string
      readonly demands: readonly JsonObject[]
      readonly expiresAt: number
      readonly policy: JsonObject
      readonly facts?: RecordedFacts
      readonly open?: readonly string[]
      readonly undoes?: string
    }
  | {
      readonly type: 'approval.voted'
      readonly callId: string
      readonly vote: ApprovalVote
      readonly comesTo: Exclude<ApprovalState, 'expired'>
      /** Who asked for the run, and so could not approve. */
      readonly requesters?: readonly string[]
    }
  | { readonly type: 'approval.expired'; readonly callId: string }
  | {
      readonly type: 'tool.denied'
      readonly callId: string | null
      readonly tool: string
      readonly args: JsonObject | null
      readonly step: string | null
      readonly code: DenialCode
      readonly message: string
      readonly blocked: boolean
      readonly policy?: JsonObject
      readonly facts?: RecordedFacts
      /** The call was due, and is not tried again. */
      readonly final?: true
    }
  | {
      readonly type: 'tool.settled'
      readonly callId: string
      readonly outcome: Outcome
      readonly result?: Json | undefined
      readonly error?: string | undefined
      readonly found?: FoundOut
      /** What undoes the call, worked out now that it succeeded (G17). */
      readonly undo?: Undo
      /** It was only shown, in a dry run. */
      readonly shown?: true
      /** Of a check after a call: whether what was expected holds. */
      readonly confirms?: boolean
    }
  | {
      readonly type: 'tool.unadmitted'
      readonly callId: string | null
      readonly tool: string
      readonly outcome: Outcome
    }
  | { readonly type: 'step.opened'; readonly step: string }
  | { readonly type: 'step.undecided'; readonly step: string; readonly error: string }
  | {
      readonly type: 'step.completed'
      readonly step: string
      readonly by: Mover
      readonly result: string | null
      readonly outOfOrder: boolean
    }
  | {
      readonly type: 'step.skipped'
      readonly step: string
      readonly by: Mover
      readonly reason: string | null
    }
  | {
      readonly type: 'step.failed'
      readonly step: string
      readonly by: Mover
      readonly error: string
      readonly limit: Limit | null
    }
  | { readonly type: 'step.escalated'; readonly step: string; readonly limit: Limit }
  | { readonly type: 'step.retried'; readonly step: string; readonly reason: string | null }
  | {
      readonly type: 'step.refused'
      readonly step: string
      readonly move: 'complete' | 'skip' | 'fail' | 'retry'
      readonly by: Mover
      readonly reasons: readonly string[]
    }
  | { readonly type: 'iteration.started'; readonly number: number }
  | {
      readonly type: 'finish.refused'
      readonly attempt: number
      /** The required steps that are not done. */
      readonly remaining: readonly string[]
      /** The calls nobody has accounted for. */
      readonly unsettled: readonly string[]
    }
  /** Somebody wants the run to stop before its next effect, or to go on again. */
  | { readonly type: 'run.paused'; readonly by: string; readonly reason: string | null }
  | { readonly type: 'run.unpaused'; readonly by: string; readonly reason: string | null }
  | { readonly type: 'cancel.requested'; readonly by: string; readonly reason: string | null }
  /** From now on only what undoes what was done is called. */
  | {
      readonly type: 'compensation.begun'
      readonly cause: 'failed' | 'cancelled'
      readonly reason: string
    }
  | { readonly type: 'run.finished'; readonly status: RunEnd; readonly message: string | null }
  | ProgramEvent
)

/** One kind of event. */
export type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>
