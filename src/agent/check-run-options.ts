import { isJsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { partLimits, toJson } from '../shared/to-json.ts'
import type { ResumeOptions, RunOptions } from './agent-options.ts'
import { describeKind, refuseStrangers } from './refuse-strangers.ts'

const ofRun: Readonly<Record<keyof RunOptions, true>> = {
  inputs: true,
  signal: true,
  run: true,
  person: true,
  control: true,
  origin: true,
}
const ofResume: Readonly<Record<keyof ResumeOptions, true>> = {
  signal: true,
  person: true,
  control: true,
  settle: true,
  retry: true,
}

/** Throws `usage` for a task that is no text, and for options that would do nothing. */
export function checkRun(prompt: unknown, options: RunOptions): void {
  if (typeof prompt !== 'string') {
    throw new LockstepError('usage', `The task of a run is a text, not ${describeKind(prompt)}.`)
  }
  refuseStrangers('A run', options, Object.keys(ofRun))
  checkPerson(options.person)
  checkSignal(options.signal)
  checkOrigin(options.origin)
}

function checkOrigin(origin: unknown): void {
  if (origin === undefined) return
  const read = toJson(origin, partLimits)
  if (read.problem === null && isJsonObject(read.value)) return
  throw new LockstepError('usage', `origin is an object of JSON, not ${describeKind(origin)}.`)
}

/** Throws `usage` for options that would do nothing. */
export function checkResume(options: ResumeOptions): void {
  refuseStrangers('Resuming', options, Object.keys(ofResume))
  checkPerson(options.person)
  checkSignal(options.signal)
  const { settle, retry } = options as { readonly settle?: unknown; readonly retry?: unknown }
  if (settle !== undefined && (typeof settle !== 'object' || settle === null || Array.isArray(settle))) {
    throw new LockstepError(
      'usage',
      `settle says of calls, by their ids, how they ended; it is ${describeKind(settle)}.`,
    )
  }
  if (retry !== undefined && !(Array.isArray(retry) && retry.every((step) => typeof step === 'string'))) {
    throw new LockstepError('usage', `retry is a list of steps, not ${describeKind(retry)}.`)
  }
}

function checkPerson(person: unknown): void {
  if (person === undefined || typeof (person as { hear?: unknown } | null)?.hear === 'function') return
  throw new LockstepError('usage', `person must have a function hear, and is ${describeKind(person)}.`, {
    hint: 'Write person: { hear: async () => text }, with null where they will say nothing more.',
  })
}

function checkSignal(signal: unknown): void {
  if (signal === undefined) return
  const { aborted, addEventListener } = (signal ?? {}) as { aborted?: unknown; addEventListener?: unknown }
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return
  throw new LockstepError('usage', `signal must be an AbortSignal, not ${describeKind(signal)}.`)
}
