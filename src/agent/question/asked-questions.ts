import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { Question, QuestionBatch } from '../../run/program/question.ts'

/**
 * A question under the names that a service is told: `q1`, `q2` and so on, and slots by names that every service takes. They say
 * nothing about the playbook, so that batches of one shape have one schema, and a prompt cache holds.
 */
export interface AskedQuestion {
  readonly key: string
  readonly question: Question
  /** The name of each slot of an `extract`, in their order. */
  readonly slotKeys: readonly string[]
}

/** What one request asks. A single text is asked for as it is, everything else as one JSON object. */
export interface AskedQuestions {
  readonly batch: QuestionBatch
  readonly asked: readonly AskedQuestion[]
  readonly form: 'text' | 'json'
}

/** The questions of a batch as they are asked. */
export function numberQuestions(batch: QuestionBatch): AskedQuestions {
  const asked = batch.questions.map((question, index) => ({
    key: `q${index + 1}`,
    question,
    slotKeys: question.kind === 'extract' ? slotKeys(question.slots.map(({ name }) => name)) : [],
  }))
  return askedAs(batch, asked)
}

/** Some of the questions, under the names they have. */
export function askedAs(batch: QuestionBatch, asked: readonly AskedQuestion[]): AskedQuestions {
  const form = asked.length === 1 && asked[0]!.question.kind === 'write' ? 'text' : 'json'
  return { batch, asked, form }
}

/** A name that services take as the name of a property, and that no object has by itself. */
const takenName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

function slotKeys(names: readonly string[]): string[] {
  return names.map((name, index) => {
    const taken = takenName.test(name) && !(name in Object.prototype) && names.indexOf(name) === index
    return taken ? name : freeName(names, index)
  })
}

function freeName(names: readonly string[], index: number): string {
  let name = `slot_${index + 1}`
  while (names.includes(name)) name += '_'
  return name
}

const mark = Symbol.for('lockstep.questions')

/**
 * Notes on a prompt which questions it asks, for models that are no service: a script, a person, a counter. It is no part of what is
 * sent, and is read by another copy of the package too.
 */
export function noteQuestions(prompt: LanguageModelV4Message[], questions: AskedQuestions): void {
  Object.defineProperty(prompt, mark, { value: questions })
}

/** The questions that a prompt asks; null where it is no such prompt. */
export function questionsOf(prompt: readonly LanguageModelV4Message[]): AskedQuestions | null {
  return (prompt as { readonly [mark]?: AskedQuestions })[mark] ?? null
}
