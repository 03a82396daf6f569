import type { LanguageModelV4 } from '@ai-sdk/provider'
import { askQuestions, type AskOptions } from '../../src/agent/question/ask-questions.ts'
import type { Question, QuestionBatch } from '../../src/run/program/question.ts'

/** One question of each kind. */
export const judge: Question = { id: 'Main/1', kind: 'judge', text: 'the order is late' }
export const extract: Question = {
  id: 'Main/2',
  kind: 'extract',
  instruction: 'the order',
  slots: [
    { name: 'order', type: 'int' },
    { name: 'email', type: 'str' },
  ],
}
export const write: Question = { id: 'Main/3', kind: 'write', instruction: 'Apologise for the delay' }
export const match: Question = {
  id: 'Main/4',
  kind: 'match',
  triggers: ['the user cancels', 'the user is angry'],
}

/** A batch that asks these questions about order 42. */
export function batchOf(...questions: Question[]): QuestionBatch {
  return {
    id: 'b1',
    questions,
    agent: 'You are the order desk.',
    playbook: 'Looks after orders.',
    notes: ['Be brief.'],
    variables: { order: { id: 42 } },
    conversation: [{ by: 'person', text: 'Where is 42?' }],
  }
}

/** Asks a model the questions of a batch. */
export async function askBatch(
  model: LanguageModelV4,
  batch: QuestionBatch,
  options: Partial<AskOptions> = {},
) {
  const signal = new AbortController().signal
  return await askQuestions(batch, {
    model,
    maxRetries: 2,
    maxTokens: null,
    signal,
    onText: null,
    ...options,
  })
}
