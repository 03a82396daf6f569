import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from '@ai-sdk/provider'
import { parse } from 'yaml'
import { z } from 'zod'
import { answeringModel } from './answering-model.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { questionsOf } from './question/asked-questions.ts'
import {
  answerByScript,
  answerTurnFields,
  hasAnswers,
  questionExpectation,
  unexpectedQuestions,
} from './question/scripted-answers.ts'
import { nameQuestion } from './question/wording.ts'

const turnSchema = z.strictObject({
  /** Answers to the questions of a program: `judge: true`, `extract: { order_id: ORD-42 }`, `write: …`, `match: [0]`. */
  ...answerTurnFields,
  /** What the model says. */
  text: z.string().optional(),
  calls: z
    .array(
      z.strictObject({
        tool: z.string(),
        arguments: z.record(z.string(), z.unknown()).default({}),
        /** Arguments as raw text, to try what is not JSON. */
        raw: z.string().optional(),
        id: z.string().optional(),
      }),
    )
    .default([]),
  delay_ms: z.number().min(0).default(0),
  /** The service fails instead of answering. */
  error: z.strictObject({ message: z.string(), status: z.int().optional() }).optional(),
  /** What the model must have been sent; anything else fails the run with what is missing. */
  expect: z
    .strictObject({
      tools: z.array(z.string()).optional(),
      contains: z.array(z.string()).optional(),
      lacks: z.array(z.string()).optional(),
      ...questionExpectation,
    })
    .optional(),
  usage: z.strictObject({ prompt: z.int().min(0), completion: z.int().min(0) }).optional(),
})

const scriptSchema = z.strictObject({
  turns: z
    .array(
      turnSchema.refine((turn) => !hasAnswers(turn) || (turn.text === undefined && turn.calls.length === 0), {
        message: 'answers questions, so it has neither text nor calls',
      }),
    )
    .min(1),
})

/** One turn of a scripted model, as it is written in YAML. */
export type ScriptedTurn = z.input<typeof turnSchema>

type Turn = z.output<typeof turnSchema>

/** Reads a script from a YAML file, of which a number of turns was `answered` before. Throws `invalid_script` that names the place and the problem. */
export function loadScriptedModel(path: string, answered = 0): LanguageModelV4 {
  let read: unknown
  try {
    read = parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new LockstepError('invalid_script', `The script ${path} cannot be read: ${why}`, { cause })
  }
  return scriptedModel(read as { turns: readonly ScriptedTurn[] }, path, answered)
}

/**
 * A model that says what a script says, turn by turn, and checks what it was sent: for testing playbooks without a model. Throws
 * `invalid_script` for a script that is none; a turn that was sent something else than expected fails with `script_mismatch`.
 */
export function scriptedModel(
  script: { readonly turns: readonly ScriptedTurn[] },
  name = 'script',
  answered = 0,
): LanguageModelV4 {
  const { success, data, error } = scriptSchema.safeParse(script)
  if (!success) {
    const problems = error.issues.map((issue) => `${issue.path.join('.') || 'the script'}: ${issue.message}`)
    throw new LockstepError('invalid_script', `${name} is not a script: ${problems.join('; ')}.`)
  }
  // A turn that fails answers nothing, so a run that is taken up has passed it without a trace.
  let at = 0
  for (let left = answered; left > 0 && at < data.turns.length; at++) {
    if (data.turns[at]!.error === undefined) left--
  }
  const next = async (options: LanguageModelV4CallOptions): Promise<Turn> => {
    const turn = data.turns[at++]
    if (turn === undefined) {
      throw new LockstepError(
        'script_mismatch',
        `${name} has ${data.turns.length} turns, and the run asked for another one.`,
      )
    }
    check(turn, options, `${name}, turn ${at}`)
    if (turn.delay_ms > 0)
      await sleep(
        turn.delay_ms,
        undefined,
        options.abortSignal === undefined ? {} : { signal: options.abortSignal },
      )
    if (turn.error !== undefined) await fail(turn.error)
    return turn
  }
  return answeringModel({ provider: 'scripted', modelId: 'scripted' }, async (options) => {
    const turn = await next(options)
    return {
      content: contentOf(turn, at, options, name),
      promptTokens: turn.usage?.prompt ?? 0,
      completionTokens: turn.usage?.completion ?? 0,
    }
  })
}

function contentOf(
  turn: Turn,
  number: number,
  { prompt }: LanguageModelV4CallOptions,
  name: string,
): LanguageModelV4Content[] {
  const place = `${name}, turn ${number}`
  const questions = questionsOf(prompt)
  if (questions !== null && turn.calls.length > 0) {
    const asked = questions.asked.map(({ question }) => nameQuestion(question)).join(', ')
    throw new LockstepError('script_mismatch', `${place}: it makes calls, and the model was asked ${asked}.`)
  }
  // A text answers whatever is asked, word for word: so a script can give answers that do not fit.
  if (questions !== null && turn.text === undefined)
    return [{ type: 'text', text: answerByScript(turn, questions, place) }]
  if (questions === null && hasAnswers(turn))
    throw new LockstepError(
      'script_mismatch',
      `${place}: it has answers, and the model was asked no question.`,
    )
  const text: LanguageModelV4Content[] = turn.text === undefined ? [] : [{ type: 'text', text: turn.text }]
  const calls = turn.calls.map((call, index): LanguageModelV4Content => ({
    type: 'tool-call',
    toolCallId: call.id ?? `s${number}-${index + 1}`,
    toolName: call.tool,
    input: call.raw ?? JSON.stringify(call.arguments),
  }))
  return [...text, ...calls]
}

function check(turn: Turn, options: LanguageModelV4CallOptions, place: string): void {
  if (turn.expect === undefined) return
  const sent = JSON.stringify(options.prompt)
  const { tools, contains = [], lacks = [] } = turn.expect
  const offered = (options.tools ?? []).map(({ name }) => name).sort()
  const problems = [
    ...unexpectedQuestions(turn.expect, questionsOf(options.prompt)),
    ...contains.filter((text) => !sent.includes(inJson(text))).map((text) => `was not sent "${text}"`),
    ...lacks.filter((text) => sent.includes(inJson(text))).map((text) => `was sent "${text}"`),
  ]
  if (tools !== undefined && JSON.stringify(tools.toSorted()) !== JSON.stringify(offered)) {
    problems.push(
      `was offered ${offered.join(', ') || 'no tool'} instead of ${tools.join(', ') || 'no tool'}`,
    )
  }
  if (problems.length > 0)
    throw new LockstepError('script_mismatch', `${place}: the model ${problems.join('; ')}.`)
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

async function fail(error: { message: string; status?: number | undefined }): Promise<never> {
  const { APICallError } = await import('ai')
  const { message, status: statusCode } = error
  throw new APICallError({
    message,
    url: 'scripted',
    requestBodyValues: {},
    ...(statusCode === undefined ? {} : { statusCode }),
  })
}
