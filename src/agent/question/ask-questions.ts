/**
 * Asks a model a batch of questions in one request.
 *
 * Owns: the way from questions to answers that have the shape they must have. Nothing here acts on an answer.
 *
 * Invariants
 * Q1  An answer is data of the shape that its question has, or there is none. Nothing is bent to fit.
 * Q2  What does not fit is asked for once more, and only that; then the batch fails with what was said.
 * Q3  The last that was handed on of a text is what the answer says.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'
import type { Answer, QuestionBatch } from '../../run/program/question.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import { askService, refuseUnusable, type Answered } from '../model-turn.ts'
import type { WholeAnswer } from '../read-stream.ts'
import type { TokenUsage } from '../token-usage.ts'
import { askedAs, numberQuestions, type AskedQuestions } from './asked-questions.ts'
import { questionPrompt, repairPrompt } from './question-prompt.ts'
import { readAnswers, type ReadAnswers } from './read-answers.ts'
import { isFormatRefused, responseFormat } from './response-format.ts'
import { TextStream, type TextPiece } from './text-stream.ts'

/** How a batch is asked. */
export interface AskOptions {
  readonly model: LanguageModelV4
  readonly maxRetries: number
  /** The most tokens an answer may have; null for as many as the service allows. */
  readonly maxTokens: number | null
  readonly signal: AbortSignal
  /** Receives the texts of `write` questions as they come; asking for them makes the model stream. */
  readonly onText: ((piece: TextPiece) => void) | null
  /** Told of each answer, fitting or not, as soon as it is there: what it took is spent even if the batch fails. */
  readonly onRequest?: (request: AnsweredRequest) => void
}

/** One request that a service answered. */
export interface AnsweredRequest extends TokenUsage {
  /** The ids of the questions it asked. */
  readonly questions: readonly string[]
  /** What the model said, word for word. */
  readonly text: string
}

/** The answers to a batch, by question id, and what they took. */
export interface QuestionAnswers {
  readonly answers: { readonly [questionId: string]: Answer }
  readonly promptTokens: number
  readonly completionTokens: number
  /** One, or two if something had to be asked for once more. */
  readonly requests: readonly AnsweredRequest[]
}

/**
 * Asks all questions of a batch in one request (Q1–Q3). Throws `model_answer_invalid` when an answer does not fit twice, what the service
 * threw when it does not answer, and the signal's reason when it is aborted.
 */
export async function askQuestions(batch: QuestionBatch, options: AskOptions): Promise<QuestionAnswers> {
  if (batch.questions.length === 0) return { answers: {}, promptTokens: 0, completionTokens: 0, requests: [] }
  options.signal.throwIfAborted()
  const texts = new TextStream(options.onText)
  const requests: AnsweredRequest[] = []
  const answers = new Map<string, Answer>()
  const take = async (prompt: LanguageModelV4Message[], questions: AskedQuestions) => {
    const whole = await ask(prompt, questions, options, texts)
    const request = describeRequest(whole, questions)
    requests.push(request)
    options.onRequest?.(request)
    refuseUnusable(whole)
    const { answers: fitting, problems } = readWhole(whole, request.text, questions)
    for (const [id, answer] of fitting) {
      answers.set(id, answer)
      if (answer.kind === 'write') texts.settle(id, answer.text)
    }
    return problems
  }

  const questions = numberQuestions(batch)
  const prompt = questionPrompt(questions)
  let problems = await take(prompt, questions)
  if (problems.size > 0) {
    const open = askedAs(
      batch,
      questions.asked.filter(({ key }) => problems.has(key)),
    )
    const wrong = [...new Set([...problems.values()].flat())]
    problems = await take(repairPrompt(prompt, requests[0]!.text.slice(0, maxShown), wrong, open), open)
    if (problems.size > 0) throw invalid(open, problems, requests)
  }
  return {
    answers: Object.fromEntries(answers),
    promptTokens: sum(requests.map(({ promptTokens }) => promptTokens)),
    completionTokens: sum(requests.map(({ completionTokens }) => completionTokens)),
    requests,
  }
}

/** The most characters of an unusable answer that are shown again, to the model or to people. */
const maxShown = 2_000
const maxQuoted = 300

/** Services that were found to refuse the shape of an answer; they are told of it in words only. */
const wordsOnly = new WeakSet<LanguageModelV4>()

async function ask(
  prompt: LanguageModelV4Message[],
  questions: AskedQuestions,
  { model, maxRetries, maxTokens, signal }: AskOptions,
  texts: TextStream,
): Promise<Answered> {
  const limit = maxTokens === null ? {} : { maxOutputTokens: maxTokens }
  const call: LanguageModelV4CallOptions = { prompt, abortSignal: signal, ...limit }
  const onText = texts.open(questions)
  const service = {
    doGenerate: (options: LanguageModelV4CallOptions) => model.doGenerate(options),
    doStream: (options: LanguageModelV4CallOptions) => {
      texts.begin()
      return model.doStream(options)
    },
  }
  const asking = { model: service, maxRetries, signal, onText }
  try {
    const format = wordsOnly.has(model) ? {} : responseFormat(questions)
    return await askService(asking, { ...call, ...format })
  } catch (error) {
    // Who breaks off hears their own reason, whatever the service made of it.
    signal.throwIfAborted()
    if (questions.form === 'text' || !isFormatRefused(error)) throw error
    wordsOnly.add(model)
    return await askService(asking, call)
  }
}

function describeRequest({ content, used }: Answered, { asked }: AskedQuestions): AnsweredRequest {
  return {
    questions: asked.map(({ question }) => question.id),
    ...used,
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  }
}

const cutOff = 'the answer was cut off because it is too long; give a shorter one'

function readWhole({ finishReason }: WholeAnswer, text: string, questions: AskedQuestions): ReadAnswers {
  const reading = readAnswers(questions, text)
  if (finishReason.unified !== 'length') return reading
  // A text that was cut off looks like one that was not.
  const unfit =
    questions.form === 'text' ? questions.asked.map(({ key }) => key) : [...reading.problems.keys()]
  return {
    answers: questions.form === 'text' ? new Map() : reading.answers,
    problems: new Map(unfit.map((key) => [key, [cutOff]])),
  }
}

function invalid(
  { asked }: AskedQuestions,
  problems: ReadonlyMap<string, readonly string[]>,
  requests: readonly AnsweredRequest[],
): LockstepError {
  const open = asked.filter(({ key }) => problems.has(key))
  const what = open.map(({ question }) => `${question.kind} ${question.id}`).join(', ')
  const why = [...new Set([...problems.values()].flat())].join('; ')
  const said = requests.at(-1)!.text
  const quoted = JSON.stringify(said.length > maxQuoted ? `${said.slice(0, maxQuoted)}…` : said)
  return new LockstepError(
    'model_answer_invalid',
    `The model's answer to ${what} does not fit, asked twice: ${why}. It said: ${quoted}`,
    { hint: 'Say more exactly in the playbook what is asked for, or use a stronger model.' },
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
