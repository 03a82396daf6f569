/**
 * What is said over the socket of an engine: lines of JSON, one message each.
 *
 * A client begins with `hello`, the version and what the token says; nothing else is answered before that. Every request has a number of its own. It is
 * answered once with `result` or `error`; before that `tail` sends an `entry` for each entry. `stop` ends a request that goes on.
 */
import type { Json, JsonObject } from '../shared/json.ts'
import { type ErrorCode, errorCodes } from '../shared/error-code.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'

/** The version of the protocol; either side refuses another. */
export const protocolVersion = 1

/** What can be asked of an engine from outside its process. */
export const engineMethods = [
  'hello',
  'begin',
  'resume',
  'order',
  'vote',
  'halt',
  'unhalt',
  'halted',
  'runs',
  'tail',
] as const

/** What can be asked of an engine from outside its process. */
export type EngineMethod = (typeof engineMethods)[number]

/** What a client says. */
export type EngineRequest =
  | { readonly id: number; readonly method: EngineMethod; readonly params: JsonObject }
  | { readonly id: number; readonly stop: true }

/** What an engine answers. */
export type EngineReply =
  | { readonly id: number; readonly entry: JsonObject }
  | { readonly id: number; readonly result: Json }
  | {
      readonly id: number
      readonly error: { readonly code: string; readonly message: string; readonly hint: string | null }
    }

/** The longest line that is read; more is no message of ours. */
export const longestLine = 16_000_000

/** Cuts what arrives into lines and hands each on as JSON. Throws for a line that is none, or too long. */
export function readLines(onMessage: (message: unknown) => void): (chunk: string) => void {
  let rest = ''
  return (chunk) => {
    rest += chunk
    if (rest.length > longestLine) throw new Error('the line is too long')
    const lines = rest.split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') onMessage(JSON.parse(line))
  }
}

/** An error as it goes over the socket: what its reader may know. */
export function writeError(error: unknown): { code: string; message: string; hint: string | null } {
  if (LockstepError.isInstance(error)) return { code: error.code, message: error.message, hint: error.hint }
  return { code: 'internal', message: messageOf(error), hint: null }
}

/** The error that came over the socket. */
export function readError({
  code,
  message,
  hint,
}: {
  code: string
  message: string
  hint: string | null
}): LockstepError {
  const known = (errorCodes as readonly string[]).includes(code) ? (code as ErrorCode) : 'internal'
  return new LockstepError(known, message, { hint })
}
