import type { Json, JsonObject } from '../shared/json.ts'
import type { ApprovalState, ApprovalVote, PolicyFact } from './approval.ts'
import type { RunEnd } from './event.ts'
import type { FoundOut } from './found-out.ts'
import type { Answer, AnswerUsage } from './program/question.ts'
import type { Outcome, Undo } from './ticket.ts'

/** What somebody wants of a run. The machine answers with the events that follow, a refusal included. */
export type RunRequest =
  | {
      readonly type: 'call'
      readonly callId: string | null
      readonly tool: string
      readonly args: JsonObject | null
      /** The bullet of a program that makes the call; the program says so and nobody else. */
      readonly step?: string
    }
  | {
      readonly type: 'settle'
      readonly callId: string | null
      readonly tool: string
      readonly outcome: Outcome
      readonly result?: Json | undefined
      readonly error?: string | undefined
      /** How that is known, where it was unknown. */
      readonly found?: FoundOut | undefined
      /** What its tool says undoes it. */
      readonly undo?: Undo | undefined
      /** Its tool only showed what it would do. */
      readonly shown?: true | undefined
    }
  | {
      readonly type: 'complete'
      readonly by: 'host' | 'model'
      readonly step: string
      readonly result: string | null
    }
  | {
      readonly type: 'skip'
      readonly by: 'host' | 'model'
      readonly step: string
      readonly reason: string | null
    }
  | { readonly type: 'fail'; readonly by: 'host' | 'model'; readonly step: string; readonly error: string }
  | { readonly type: 'retry'; readonly step: string; readonly reason: string | null }
  | { readonly type: 'iterate' }
  /** What a person says to a held call, and what that comes to by the policies that held it. */
  | {
      readonly type: 'vote'
      readonly callId: string
      readonly vote: Omit<ApprovalVote, 'at'>
      readonly comesTo: Exclude<ApprovalState, 'expired'>
      /** Who asked for the run; recorded with the vote. */
      readonly requesters?: readonly string[]
    }
  /** A model's answers to the questions that are open. */
  | {
      readonly type: 'answer'
      readonly id: string
      readonly answers: { readonly [question: string]: Answer }
      readonly usage?: AnswerUsage
    }
  /** There is no usable answer to the questions that are open. */
  | { readonly type: 'unanswered'; readonly id: string; readonly error: string }
  /** What a person said. */
  | { readonly type: 'message'; readonly text: string }
  /** The person will say nothing more. */
  | { readonly type: 'leave' }
  /** Somebody wants the run to stop: for good, or until somebody lets it go on. */
  | { readonly type: 'cancel'; readonly by: string; readonly reason: string | null }
  | { readonly type: 'pause'; readonly by: string; readonly reason: string | null }
  | { readonly type: 'unpause'; readonly by: string; readonly reason: string | null }
  | { readonly type: 'finish'; readonly message: string | null }
  | { readonly type: 'end'; readonly status: Exclude<RunEnd, 'succeeded'>; readonly message: string | null }

/** What the machine cannot know by itself; recorded with the decision it served. */
export interface Facts {
  readonly now: number
  /** Whether the tool of a call is registered; null where there is no registry. */
  readonly registered?: boolean | null
  /** What a call acts on, as its tool says; null where it does not. */
  readonly target?: string | null
  /** What the tool of a call can do at worst; null where nobody says. */
  readonly risk?: 'read' | 'write' | 'irreversible' | null
  /** Why the arguments of a call cannot be read as JSON, if they cannot. */
  readonly malformed?: string | null
  /** What policies say to a call; absent where none are asked. */
  readonly policy?: PolicyFact | null
  /** The call is only shown, in a dry run: what depends on values that nobody knows does not stop it. */
  readonly shown?: true
  /** Why something outside the playbook forbids the call, if it does. */
  readonly veto?: string | null
}
