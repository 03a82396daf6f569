import type { AppendOptions } from '../journal.ts'
import { checkAmounts, reservationRefusal } from '../reservation-refusal.ts'

/** Counters and locks that the runs of one process share (J6). */
export class MemoryReservations {
  readonly #counters = new Map<string, number>()
  readonly #locks = new Map<string, string>()

  /** Gives back and takes, all or nothing. Throws `reservation_refused`. */
  change(run: string, { tenant, reservations = [], releases = [] }: AppendOptions): void {
    checkAmounts([...reservations, ...releases])
    const counters = new Map<string, number>()
    const locks = new Map<string, string | null>()
    const place = (key: string) => JSON.stringify([tenant, key])
    const count = (at: string) => counters.get(at) ?? this.#counters.get(at) ?? 0
    const holder = (at: string) => (locks.has(at) ? locks.get(at)! : (this.#locks.get(at) ?? null))
    for (const release of releases) {
      const at = place(release.key)
      if (release.kind === 'counter') counters.set(at, Math.max(0, count(at) - release.amount))
      else if (holder(at) === run) locks.set(at, null)
    }
    for (const wanted of reservations) {
      // A journal in memory knows no halt: whoever has it can stop its runs.
      if (wanted.kind === 'unhalted') continue
      const at = place(wanted.key)
      const held = holder(at)
      if (wanted.kind === 'counter') {
        if (count(at) + wanted.amount > wanted.limit) throw reservationRefusal(wanted, count(at))
        counters.set(at, count(at) + wanted.amount)
      } else {
        if (held !== null && held !== run) throw reservationRefusal(wanted, held)
        locks.set(at, run)
      }
    }
    for (const [at, number] of counters) this.#counters.set(at, number)
    for (const [at, by] of locks) {
      if (by === null) this.#locks.delete(at)
      else this.#locks.set(at, by)
    }
  }

  /** Frees what a finished run holds. */
  freeLocks(run: string, tenant: string): void {
    for (const [at, by] of this.#locks) {
      if (by === run && (JSON.parse(at) as string[])[0] === tenant) this.#locks.delete(at)
    }
  }
}
