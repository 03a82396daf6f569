import type { z } from 'zod'
import { digest } from '../shared/digest.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { utcTime } from '../shared/utc-time.ts'
import type { run } from './run-shapes.ts'

type Vote = z.infer<typeof run>['approvals'][number]['votes'][number]

/** As a run's calls are named when they wait: short, and made of the run and the call. */
export function approvalIdOf(id: string, callId: string): string {
  return `a_${digest(`${id}/${callId}`).slice('sha256:'.length, 'sha256:'.length + 8)}`
}

/** What a person said to a held call. */
export function voteOf(vote: Json | undefined): Vote {
  const said = objectOf(vote) ?? {}
  const roles = Array.isArray(said['roles']) ? (said['roles'] as readonly Json[]) : []
  return {
    person: textOf(said['person']) ?? '',
    identity: textOf(said['identity']) ?? '',
    roles: roles.map((role) => textOf(role) ?? ''),
    at: isoOf(said['at']) ?? utcTime(0),
    answer: said['answer'] === 'approve' ? 'approve' : 'deny',
    reason: textOf(said['reason']),
  }
}

/** Who gave an order, and why. */
export function saidBy(data: JsonObject): string {
  const reason = textOf(data['reason'])
  return `${textOf(data['by']) ?? ''}${reason === null ? '' : `: ${reason}`}`
}

/** What a model is asked, question by question. */
export function questionsIn(data: JsonObject): string[] {
  const questions = Array.isArray(data['questions']) ? (data['questions'] as readonly Json[]) : []
  return questions.map((question) => {
    const said = objectOf(question) ?? {}
    return textOf(said['text']) ?? textOf(said['instruction']) ?? textOf(said['kind']) ?? ''
  })
}

/** What a model answered, in a line. */
export function answersIn(data: JsonObject): string {
  return Object.values(objectOf(data['answers']) ?? {})
    .map((answer) => {
      const { kind: _, ...said } = objectOf(answer) ?? {}
      return Object.values(said)
        .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
        .join(': ')
    })
    .join('; ')
}

/** A list of texts in a line; empty for anything else. */
export function listOf(value: Json | undefined): string {
  return Array.isArray(value) ? value.map((item) => textOf(item as Json) ?? '').join(', ') : ''
}

/** The text, or null for anything else. */
export function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}

/** The object, or null for anything else. */
export function objectOf(value: Json | undefined): Readonly<JsonObject> | null {
  return isJsonObject(value) ? value : null
}

/** The number of things, or 0 for what is none. */
export function countOf(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}

/** The last moment whose year has four digits. */
const lastMoment = 253_402_300_799_999

/** The time of epoch milliseconds as it is sent, or null for what is none. */
export function isoOf(value: Json | undefined): string | null {
  return typeof value === 'number' && Math.abs(value) <= lastMoment ? utcTime(value) : null
}
