import type { CompiledPlaybook } from '../playbook/compile-playbook.ts'

/** What a call of a call step is for: the call itself, or looking afterwards whether it took. */
export type CallPurpose = 'call' | 'verify'

/** Which call of which step an id names. */
export interface CallName {
  readonly step: number
  readonly visit: number
  /** The item of `foreach`; null where the step has none. */
  readonly item: number | null
  readonly purpose: CallPurpose
  readonly attempt: number
}

/** `cordon`, its second attempt `cordon~2`, the third item `cordon[2]`, its check `cordon?`, a second visit `cordon#2`. */
export function writeCallId(id: string, { visit, item, purpose, attempt }: Omit<CallName, 'step'>): string {
  return `${id}${visit > 1 ? `#${visit}` : ''}${item === null ? '' : `[${item}]`}${purpose === 'verify' ? '?' : ''}${attempt > 1 ? `~${attempt}` : ''}`
}

const form = /^([^#[\]?!~]+)(?:#(\d{1,9}))?(?:\[(\d{1,9})\])?(\?)?(?:~(\d{1,9}))?$/

/** The call of a call step that an id names; null for every other id. Ids of steps have none of the marks in them. */
export function readCallId(compiled: CompiledPlaybook, callId: string): CallName | null {
  // Most ids are plain, so the step is looked for before the marks.
  const plain = compiled.positions.get(callId)
  if (plain !== undefined) {
    if (compiled.steps[plain]!.call === null) return null
    return { step: plain, visit: 1, item: null, purpose: 'call', attempt: 1 }
  }
  const [, id, visit, item, check, attempt] = form.exec(callId) ?? []
  const step = id === undefined ? undefined : compiled.positions.get(id)
  if (step === undefined || compiled.steps[step]!.call === null) return null
  return {
    step,
    visit: visit === undefined ? 1 : Number(visit),
    item: item === undefined ? null : Number(item),
    purpose: check === undefined ? 'call' : 'verify',
    attempt: attempt === undefined ? 1 : Number(attempt),
  }
}

/** An id without the number of the attempt: every attempt at one call has the same key. */
export function withoutAttempt(callId: string): string {
  return callId.replace(/~\d+$/, '')
}
