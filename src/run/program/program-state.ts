/**
 * Where a program stands: its call stack, its variables, and what it waits for.
 *
 * Invariants
 * M1  It is plain data: written down and read back it is the same.
 * M2  The innermost frame runs; those below it wait for it. Within a frame the innermost cursor says which bullet is next.
 * M3  While something is pending, nothing else of the program moves but triggers that time or a person sets off.
 */
import { canonicalJson } from '../../shared/canonical-json.ts'
import type { Json, JsonObject } from '../../shared/json.ts'
import type { Answer, Question, Utterance } from './question.ts'

/** The place in a block: which bullet is next, and for a loop's body which turn this is. */
export interface Cursor {
  readonly block: string
  index: number
  /** For the body of a loop: the turn, from 1; how many of them count against the bound; the list that is walked through. */
  turn: number
  counted: number
  spoken: boolean
  readonly items: readonly Json[] | null
}

/** Why a playbook runs. */
export type FrameCause = 'entry' | 'call' | 'trigger'

/** One call of a playbook. */
export interface Frame {
  readonly id: number
  readonly procedure: string
  readonly cause: FrameCause
  /** The trigger that set it off, if one did. */
  readonly trigger: string | null
  /** The ticket that is settled when it returns. */
  readonly callId: string | null
  readonly locals: Record<string, Json>
  /** What it is about, placeholders filled in; null until they are. */
  description: string | null
  readonly cursors: Cursor[]
  /** The bullet that was begun and is not done; null between two bullets. */
  at: string | null
  /** Which branch of an `if` is looked at. */
  arm: number
  /** The results of the calls of the computation at hand, in order. */
  results: Json[]
  /** The triggers that come before the call at hand have run. */
  readied: boolean
  /** The last result of a call, or what a person or a model said last: `$_`. */
  last: Json
  /** How often a person was asked in the bullet at hand, and the answer that has not been looked at. */
  asked: number
  reply: string | null
  /** When the bullet at hand has waited long enough, if it waits for the time; a playbook that runs meanwhile makes it no longer. */
  until: number | null
  /** The triggers that the answer means have been set off. */
  heard: boolean
  /** The variables that the answers gave a value. */
  given: string[]
  /** The call of a playbook that it waits for. */
  calling: { readonly step: string; readonly callId: string; readonly tool: string } | null
  /** The calls that succeeded and whose triggers have not been looked at. */
  followed: string[]
  /** Which visit of each bullet is its own: a playbook that calls itself visits the same bullets again. */
  readonly visits: Record<string, number>
  /** What a model working freely on the bullet at hand came to. */
  outcome: string | null
}

/** What a program waits for. */
export type Pending =
  /** A call that is to be made; `problem` once it is known not to succeed. */
  | {
      readonly kind: 'call'
      readonly step: string
      readonly callId: string
      readonly tool: string
      readonly args: JsonObject
      problem: string | null
    }
  | { readonly kind: 'act'; readonly step: string }
  | {
      readonly kind: 'questions'
      readonly id: string
      readonly questions: readonly Question[]
      readonly reads: readonly string[] | null
      /** Under which key an answer is remembered, by question. */
      readonly memory: { readonly [question: string]: string }
    }
  | { readonly kind: 'person'; readonly step: string | null }
  | { readonly kind: 'time'; readonly step: string; readonly until: number }

/** Something that went wrong and that nobody has dealt with: in which call, if it was one. */
export interface Failure {
  readonly error: string
  readonly target: string | null
  /** The bullet, if it was one. */
  readonly step: string | null
}

export interface ProgramState {
  readonly frames: Frame[]
  /** The variables of each agent. */
  readonly agents: Record<string, Record<string, Json>>
  readonly conversation: Utterance[]
  pending: Pending | null
  failure: Failure | null
  /** Answers that are waiting for their bullet. */
  readonly answers: Record<string, Answer>
  /** Judgements by what they were about and what they read. */
  readonly judgements: Record<string, boolean>
  /** Whether the condition of each state trigger held when it was last looked at. */
  readonly armed: Record<string, boolean>
  /** Variables that were written since the state triggers were looked at. */
  readonly written: string[]
  /** Time triggers that have not fired. */
  readonly timers: { readonly key: string; readonly due: number }[]
  /** A message that came while no playbook ran. */
  message: string | null
  /** `running`, then `ending` while the playbooks for the end run. */
  phase: 'running' | 'ending'
  /** How many entries have begun, and end triggers. */
  begun: number
  ended: number
  /** What the program returned. */
  result: Json
  /** Why the program ended, where the bullet that ended it says so. */
  reason?: string
  /** How often each bullet was begun. */
  readonly visited: Record<string, number>
  readonly counters: {
    frames: number
    steps: number
    calls: number
    questions: number
    writes: number
    spoken: number
  }
}

/** The state of a program before anything has happened. */
export function createProgramState(agents: Iterable<string>): ProgramState {
  return {
    frames: [],
    agents: Object.fromEntries([...agents].map((name) => [name, {}])),
    conversation: [],
    pending: null,
    failure: null,
    answers: {},
    judgements: {},
    armed: {},
    written: [],
    timers: [],
    message: null,
    phase: 'running',
    begun: 0,
    ended: 0,
    result: null,
    visited: {},
    counters: { frames: 0, steps: 0, calls: 0, questions: 0, writes: 0, spoken: 0 },
  }
}

/** Whether a call is the one that the program is about to make, to the letter. */
export function isDueCall(
  due: Extract<Pending, { kind: 'call' }>,
  call: { readonly callId: string | null; readonly tool: string; readonly args: JsonObject | null },
): boolean {
  if (call.callId !== due.callId || call.tool !== due.tool) return false
  return canonicalJson(call.args ?? {}) === canonicalJson(due.args)
}
