import { LockstepError } from '../shared/lockstep-error.ts'
import type { Release, Reservation } from './journal.ts'

/** Something that is not to be had now: what was asked for, and what stands in the way (who halted and why, the run that holds a lock, the count). */
export class ReservationRefusal extends LockstepError {
  readonly wanted: Reservation
  readonly found: number | string

  constructor(wanted: Reservation, found: number | string) {
    super('reservation_refused', describe(wanted, found), {
      consequence: 'retry',
      hint: 'Nothing was written. Try again when it is free, or raise the limit.',
    })
    this.wanted = wanted
    this.found = found
  }
}

/** The error for something that is not to be had now. */
export function reservationRefusal(wanted: Reservation, found: number | string): ReservationRefusal {
  return new ReservationRefusal(wanted, found)
}

/** The refusal behind an error; null where there is none. */
export function refusalBehind(error: unknown): ReservationRefusal | null {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof ReservationRefusal) return each
  return null
}

function describe(wanted: Reservation, found: number | string): string {
  if (wanted.kind === 'unhalted') return `All runs are halted by ${found}.`
  if (wanted.kind === 'lock') return `'${wanted.key}' is locked by run ${found}.`
  return `'${wanted.key}' stands at ${found}, and ${wanted.amount} more would pass the limit of ${wanted.limit}.`
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
