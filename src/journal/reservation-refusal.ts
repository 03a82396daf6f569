import { LockstepError } from '../shared/lockstep-error.ts'
import type { Release, Reservation } from './journal.ts'

/** The error for something that is not to be had now. */
export function reservationRefusal(wanted: Reservation, found: number | string): LockstepError {
  const message =
    wanted.kind === 'unhalted'
      ? `All runs are halted: ${found}.`
      : wanted.kind === 'lock'
        ? `'${wanted.key}' is locked by run ${found}.`
        : `'${wanted.key}' stands at ${found}, and ${wanted.amount} more would pass the limit of ${wanted.limit}.`
  return new LockstepError('reservation_refused', message, {
    consequence: 'retry',
    hint: 'Nothing was written. Try again when it is free, or raise the limit.',
  })
}

/** Throws `invalid_value` for amounts that are no amounts: what is given back must be as exact as what is taken. */
export function checkAmounts(changes: readonly (Reservation | Release)[]): void {
  for (const change of changes) {
    if (change.kind !== 'counter') continue
    const { key, amount } = change
    const limit = 'limit' in change ? change.limit : 0
    if (Number.isSafeInteger(amount) && amount >= 0 && Number.isFinite(limit)) continue
    throw new LockstepError('invalid_value', `'${key}' is counted in whole numbers from 0 on, not ${amount}.`)
  }
}
