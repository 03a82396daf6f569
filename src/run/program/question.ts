import type { ValueType } from '../../playbook/program.ts'
import type { Json, JsonObject } from '../../shared/json.ts'

/** A value that is asked for. */
export interface Slot {
  readonly name: string
  readonly type: ValueType
}

/**
 * One thing that only someone who understands language can answer. Its answer is data with a shape of its own:
 * `judge` true or false, `extract` a value for each slot (null where there is none), `write` a text, `match` the positions of
 * the triggers that what was said means.
 */
export type Question = { readonly id: string } & (
  | { readonly kind: 'judge'; readonly text: string }
  | { readonly kind: 'extract'; readonly slots: readonly Slot[]; readonly instruction: string }
  | { readonly kind: 'write'; readonly instruction: string }
  | { readonly kind: 'match'; readonly triggers: readonly string[] }
)

/** What answers a question, by its kind. */
export type Answer =
  | { readonly kind: 'judge'; readonly value: boolean; readonly reason: string }
  | { readonly kind: 'extract'; readonly values: { readonly [slot: string]: Json } }
  | { readonly kind: 'write'; readonly text: string }
  | { readonly kind: 'match'; readonly matched: readonly number[] }

/** Which request to a model some answers came from, and what it took. */
export interface AnswerUsage {
  readonly number: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** What it took by estimate, where the service does not say. */
  readonly estimated?: { readonly promptTokens: number; readonly completionTokens: number }
  /** In dollars, at the price of that moment; absent where no price is known. */
  readonly cost?: number
}

/** Something that was said in the course of a run. */
export interface Utterance {
  readonly by: 'person' | 'agent'
  readonly text: string
}

/** The questions that go to a model in one request, with what it needs to know to answer them. */
export interface QuestionBatch {
  readonly id: string
  readonly questions: readonly Question[]
  /** Who the agent is, what the playbook is about, with placeholders filled in. */
  readonly agent: string
  readonly playbook: string
  readonly notes: readonly string[]
  /** The variables that the questions read. */
  readonly variables: JsonObject
  readonly conversation: readonly Utterance[]
}
