import { outcomes, type Outcome } from '../run/ticket.ts'
import type { Json } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { shortText } from '../shared/short-text.ts'
import { partLimits, toJson } from '../shared/to-json.ts'

/** How a call ended, in the form in which it is recorded. */
export interface ReadOutcome {
  readonly callId: string | null
  readonly outcome: Outcome
  readonly result: Json | undefined
  readonly error: string | undefined
}

const known = ['callId', 'outcome', 'result', 'error']

/**
 * Reads how a call ended, from outside. What does not say that it succeeded is never taken for a success: throws `invalid_value` for
 * another shape, another outcome, an error without an outcome, and a result that is not JSON. With `stated`, the outcome has to be there.
 */
export function readOutcome(tool: string, given: unknown, stated: boolean): ReadOutcome {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(`What became of '${tool}' is said by an object, not by ${describe(given)}.`)
  }
  const stranger = Object.keys(given).find((key) => !known.includes(key))
  if (stranger !== undefined) {
    const nearest = nearestName(stranger, known)
    throw invalid(
      `What became of '${tool}' is not said by '${stranger}'.`,
      nearest === null ? '' : `Did you mean '${nearest}'? `,
    )
  }
  const { callId, outcome, result, error } = given as Readonly<Record<string, unknown>>
  if (outcome === undefined && (stated || error !== undefined)) {
    throw invalid(`How '${tool}' ended is not said${error === undefined ? '' : ', only an error'}.`)
  }
  if (outcome !== undefined && !outcomes.includes(outcome as Outcome)) {
    throw invalid(`${describe(outcome)} is no outcome of a call.`)
  }
  const reading = result === undefined ? null : toJson(result, partLimits)
  if (reading !== null && reading.problem !== null) {
    throw new LockstepError('invalid_value', `The result of '${tool}' cannot be kept: ${reading.problem}.`, {
      hint: 'Record JSON: plain objects, lists, texts, numbers. The call is still open.',
    })
  }
  return {
    callId: (callId as string | undefined) ?? null,
    outcome: (outcome as Outcome | undefined) ?? 'succeeded',
    result: reading?.value,
    error: error === undefined ? undefined : shortText(messageOf(error)),
  }
}

function invalid(message: string, hint = ''): LockstepError {
  return new LockstepError('invalid_value', message, {
    hint: `${hint}Record { outcome }, one of ${outcomes.join(', ')}. The call is still open.`,
  })
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : value === null ? 'null' : `a ${typeof value}`
}
