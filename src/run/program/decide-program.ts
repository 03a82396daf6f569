import type { RunEvent } from '../event.ts'
import type { Facts, RunRequest } from '../request.ts'
import { cutText } from './cut-text.ts'
import type { Answer } from './question.ts'
import { currentStep, type RunState } from '../state.ts'

/** The most characters of one message that are taken. */
const longestMessage = 1_000_000

type Request<Type extends RunRequest['type']> = Extract<RunRequest, { type: Type }>

/** Takes a model's answers to the questions that are open. Nothing follows from answers to others, or of another shape. */
export function decideAnswer(
  state: RunState,
  { id, answers, usage = undefined }: Request<'answer'>,
  facts: Facts,
): readonly RunEvent[] {
  const pending = state.program?.pending
  if (state.ended !== null || pending?.kind !== 'questions' || pending.id !== id) return []
  const given = pending.questions.flatMap((question) => {
    const answer = Object.hasOwn(answers, question.id) ? answers[question.id] : undefined
    return answer?.kind === question.kind ? [[question.id, wellFormed(answer)] as const] : []
  })
  if (given.length !== pending.questions.length) return []
  const at = Math.max(facts.now, state.clock)
  return [{ type: 'question.answered', at, id, answers: Object.fromEntries(given), usage: usage ?? null }]
}

/** Half of a character cannot be written down. */
function wellFormed(answer: Answer): Answer {
  return answer.kind === 'write' ? { ...answer, text: answer.text.toWellFormed() } : answer
}

/** Questions that nobody answered fail the bullet that asked them. */
export function decideUnanswered(
  state: RunState,
  { id, error }: Request<'unanswered'>,
  facts: Facts,
): readonly RunEvent[] {
  const pending = state.program?.pending
  if (state.ended !== null || pending?.kind !== 'questions' || pending.id !== id) return []
  const at = Math.max(facts.now, state.clock)
  const step = currentStep(state)
  const message = error.toWellFormed()
  if (step === null) return [{ type: 'run.finished', at, status: 'failed', message }]
  return [
    {
      type: 'step.failed',
      at,
      step: state.compiled.steps[step]!.id,
      by: 'program',
      error: message,
      limit: null,
    },
  ]
}

/** Takes what a person said, if the program waits for it. */
export function decideMessage(
  state: RunState,
  { text }: Request<'message'>,
  facts: Facts,
): readonly RunEvent[] {
  if (state.ended !== null || state.program?.pending?.kind !== 'person') return []
  return [
    { type: 'message.received', at: Math.max(facts.now, state.clock), text: cutText(text, longestMessage) },
  ]
}

/** The person left: a program that only listens ends; one that was asking them something cannot go on. */
export function decideLeave(state: RunState, facts: Facts): readonly RunEvent[] {
  const pending = state.program?.pending
  if (state.ended !== null || pending?.kind !== 'person') return []
  const at = Math.max(facts.now, state.clock)
  if (pending.step === null) return [{ type: 'program.ending', at }]
  const message = `nobody answered at ${pending.step}`
  return [{ type: 'run.finished', at, status: 'incomplete', message }]
}
