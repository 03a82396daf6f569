import type { Answer } from '../../run/program/question.ts'
import { isJsonObject, type Json, type JsonObject } from '../../shared/json.ts'
import { compileJsonSchema } from '../../shared/json-schema.ts'
import { toJson } from '../../shared/to-json.ts'
import { answerSchema } from './answer-schema.ts'
import type { AskedQuestion, AskedQuestions } from './asked-questions.ts'

/** What was understood of an answer: by question id what fits, by key what does not, in sentences. */
export interface ReadAnswers {
  readonly answers: ReadonlyMap<string, Answer>
  readonly problems: ReadonlyMap<string, readonly string[]>
}

/**
 * Reads what a model said to these questions. Marks around the JSON are forgiven, a value of another type is not: `"42"` is no number.
 * What was not asked for is dropped.
 */
export function readAnswers({ asked, form }: AskedQuestions, said: string): ReadAnswers {
  const answers = new Map<string, Answer>()
  const problems = new Map<string, readonly string[]>()
  const given = form === 'text' ? readText(asked[0]!, said) : parseAnswer(said)
  for (const each of asked) {
    const reading =
      typeof given === 'string' ? [given] : readAnswer(each, Object.hasOwn(given, each.key), given[each.key])
    if (Array.isArray(reading)) problems.set(each.key, reading)
    else answers.set(each.question.id, reading as Answer)
  }
  return { answers, problems }
}

/** Where nothing but a text was asked for, no text is no answer; among other answers an empty one may be meant. */
function readText({ key }: AskedQuestion, said: string): JsonObject | string {
  return said.trim() === '' ? 'the text is empty' : { [key]: said }
}

/** The JSON object in what was said, or a sentence that says why there is none. */
function parseAnswer(said: string): JsonObject | string {
  let problem = 'the answer is empty, not a JSON object'
  for (const text of candidates(said)) {
    try {
      const read = toJson(JSON.parse(text))
      if (read.problem !== null) return `the answer cannot be taken: ${read.problem}`
      if (isJsonObject(read.value)) return read.value
      problem = 'the answer is no JSON object'
    } catch (error) {
      problem = `the answer is not JSON: ${(error as Error).message}`
    }
  }
  return problem
}

/** What may be the JSON: all of it, what a fence of three backticks encloses, what stands between the outermost braces. */
function candidates(said: string): string[] {
  const text = said.replace(/^\ufeff/, '').trim()
  if (text === '') return []
  const fenced = /^```[a-z0-9]*\s*\n([^]*?)\n?\s*```$/i.exec(text)?.[1]
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')]
  const braced = from < to ? text.slice(from, to + 1) : undefined
  return [...new Set([braced, fenced, text])].filter((each) => each !== undefined)
}

/** The answer, or what is wrong with it. */
function readAnswer(asked: AskedQuestion, there: boolean, given: Json | undefined): Answer | string[] {
  const { key, question, slotKeys } = asked
  if (!there || given === undefined) return [`${key} is missing`]
  const value = isJsonObject(given) ? pick(given, namesOf(asked)) : given
  const misfits = compileJsonSchema(answerSchema(asked)).check(value)
  if (misfits.length > 0) return misfits.map((misfit) => `${key}: ${misfit}`)
  switch (question.kind) {
    case 'judge': {
      const { value: holds, reason } = value as { value: boolean; reason: string }
      return { kind: 'judge', value: holds, reason }
    }
    case 'write':
      return { kind: 'write', text: (value as string).trim() }
    case 'match':
      return readMatch(key, value as readonly number[], question.triggers.length)
    case 'extract': {
      const inexact = slotKeys.filter((name) => !isExact((value as JsonObject)[name]!))
      if (inexact.length > 0)
        return inexact.map((name) => `${key}: \`${name}\` holds a number with too many digits to be exact`)
      const values = question.slots.map(({ name }, index) => [name, (value as JsonObject)[slotKeys[index]!]!])
      return { kind: 'extract', values: Object.fromEntries(values) as { readonly [slot: string]: Json } }
    }
  }
}

function readMatch(key: string, given: readonly number[], count: number): Answer | string[] {
  // The order says nothing, and twice is once.
  const matched = [...new Set(given)].toSorted((a, b) => a - b)
  if (matched.some((position) => position < 0 || position >= count))
    return [`${key}: there is no such description`]
  return { kind: 'match', matched }
}

function namesOf({ question, slotKeys }: AskedQuestion): readonly string[] {
  return question.kind === 'judge' ? ['reason', 'value'] : slotKeys
}

function pick(given: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]!]),
  )
}

/** Whether every whole number is one that a double holds exactly: a longer one was changed by reading it. */
export function isExact(value: Json): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(isExact)
}
