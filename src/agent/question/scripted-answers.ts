import { z } from 'zod'
import type { Answer, Question } from '../../run/program/question.ts'
import type { Json } from '../../shared/json.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import type { AskedQuestions } from './asked-questions.ts'
import { nameQuestion, wordingOf } from './wording.ts'
import { writeAnswers } from './write-answers.ts'

const kinds = ['judge', 'extract', 'write', 'match'] as const

const answerFields = {
  judge: z
    .union([z.boolean(), z.strictObject({ value: z.boolean(), reason: z.string().default('') })])
    .optional(),
  /** Values by name; those that are left out are not there. */
  extract: z.record(z.string(), z.json()).optional(),
  write: z.string().optional(),
  /** Triggers by position, from 0, or by their words. */
  match: z.array(z.union([z.int().min(0), z.string()])).optional(),
}

const answerSchema = z
  .strictObject({
    ...answerFields,
    /** Which question it answers: its id, its number in the request from 1, or a part of its words. */
    to: z.union([z.string().min(1), z.int().min(1)]).optional(),
  })
  .refine((answer) => kinds.filter((kind) => answer[kind] !== undefined).length === 1, {
    message: `must be one of ${kinds.join(', ')}`,
  })

/** How a script answers questions: one of each kind in the turn itself, or several as a list. */
export const answerTurnFields = { ...answerFields, answers: z.array(answerSchema).optional() }

/** What a script expects to be asked: the kinds or ids of the questions in their order, and a pattern for their words. */
export const questionExpectation = {
  asks: z.array(z.string()).optional(),
  says: z.string().refine(isPattern, { message: 'is not a regular expression' }).optional(),
}

const turnSchema = z.strictObject(answerTurnFields)
const expectationSchema = z.strictObject(questionExpectation)

type AnswerTurn = z.output<typeof turnSchema>
type ScriptedAnswer = z.output<typeof answerSchema>

/** Whether a turn of a script answers questions. */
export function hasAnswers(turn: AnswerTurn): boolean {
  return turn.answers !== undefined || kinds.some((kind) => turn[kind] !== undefined)
}

/** What a scripted model says to these questions. Throws `script_mismatch` that names what is not answered, or answers nothing. */
export function answerByScript(turn: AnswerTurn, questions: AskedQuestions, place: string): string {
  const scripted = [...answersIn(turn), ...(turn.answers ?? [])]
  const used = new Set<ScriptedAnswer>()
  const found = new Map<Question, ScriptedAnswer>()
  const take = (fits: (answer: ScriptedAnswer, question: Question, number: number) => boolean) => {
    for (const [index, { question }] of questions.asked.entries()) {
      if (found.has(question)) continue
      const answer = scripted.find(
        (each) => !used.has(each) && kindOf(each) === question.kind && fits(each, question, index + 1),
      )
      if (answer === undefined) continue
      used.add(answer)
      found.set(question, answer)
    }
  }
  take((answer, question, number) => answer.to !== undefined && isMeant(answer.to, question, number))
  take((answer) => answer.to === undefined)
  const asked = questions.asked.map(({ question }) => question)
  const open = asked.find((question) => !found.has(question))
  if (open !== undefined) throw mismatch(`${place}: nothing answers ${nameQuestion(open)}.`)
  const spare = scripted.find((answer) => !used.has(answer))
  if (spare !== undefined) {
    const { to, ...answer } = spare
    const what = `${JSON.stringify(answer)}${to === undefined ? '' : ` to ${JSON.stringify(to)}`}`
    throw mismatch(`${place}: ${what} answers no question; asked were ${asked.map(nameQuestion).join(', ')}.`)
  }
  const answers = asked.map(
    (question) => [question.id, readScripted(found.get(question)!, question, place)] as const,
  )
  return writeAnswers(questions, new Map(answers))
}

/** What is different about what was asked; empty if it is what the script expects. */
export function unexpectedQuestions(
  { asks, says }: z.output<typeof expectationSchema>,
  questions: AskedQuestions | null,
): string[] {
  const asked = (questions?.asked ?? []).map(({ question }) => question)
  const problems: string[] = []
  const fits =
    asks === undefined ||
    (asks.length === asked.length &&
      asks.every((each, index) => [asked[index]!.kind, asked[index]!.id].includes(each)))
  const names = asked.map(nameQuestion).join(', ') || 'no question'
  if (!fits) problems.push(`was asked ${names} instead of ${asks.join(', ') || 'no question'}`)
  if (says !== undefined && !new RegExp(says, 'u').test(asked.map(wordingOf).join('\n'))) {
    problems.push(`was not asked anything like /${says}/ but ${names}`)
  }
  return problems
}

function answersIn(turn: AnswerTurn): ScriptedAnswer[] {
  return kinds.flatMap((kind) => (turn[kind] === undefined ? [] : [{ [kind]: turn[kind] } as ScriptedAnswer]))
}

function kindOf(answer: ScriptedAnswer): Question['kind'] {
  return kinds.find((kind) => answer[kind] !== undefined)!
}

function isMeant(to: string | number, question: Question, number: number): boolean {
  return to === number || to === question.id || (typeof to === 'string' && wordingOf(question).includes(to))
}

function readScripted(answer: ScriptedAnswer, question: Question, place: string): Answer {
  switch (question.kind) {
    case 'judge': {
      const judge = answer.judge!
      return { kind: 'judge', ...(typeof judge === 'boolean' ? { value: judge, reason: '' } : judge) }
    }
    case 'write':
      return { kind: 'write', text: answer.write! }
    case 'extract': {
      const names = question.slots.map(({ name }) => name)
      const stray = Object.keys(answer.extract!).find((name) => !names.includes(name))
      if (stray !== undefined)
        throw mismatch(`${place}: ${nameQuestion(question)} asks for ${names.join(', ')}, not for ${stray}.`)
      return { kind: 'extract', values: answer.extract as { readonly [slot: string]: Json } }
    }
    case 'match':
      return { kind: 'match', matched: answer.match!.map((trigger) => positionOf(trigger, question, place)) }
  }
}

function positionOf(
  trigger: number | string,
  question: Extract<Question, { kind: 'match' }>,
  place: string,
): number {
  const position = typeof trigger === 'number' ? trigger : question.triggers.indexOf(trigger)
  if (question.triggers[position] !== undefined) return position
  throw mismatch(`${place}: ${nameQuestion(question)} has no trigger ${JSON.stringify(trigger)}.`)
}

function mismatch(message: string): LockstepError {
  return new LockstepError('script_mismatch', message)
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}
