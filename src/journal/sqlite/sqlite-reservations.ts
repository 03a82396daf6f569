import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { AppendOptions, Halt, Release, Reservation } from '../journal.ts'
import { type ReservationRefusal, reservationRefusal } from '../reservation-refusal.ts'

/** Leases, counters and locks in a store (J5, J6), inside a transaction of the caller. */
export class SqliteReservations {
  readonly #epoch: StatementSync
  readonly #lease: StatementSync
  readonly #count: StatementSync
  readonly #setCount: StatementSync
  readonly #holder: StatementSync
  readonly #lock: StatementSync
  readonly #unlock: StatementSync
  readonly #unlockAll: StatementSync
  readonly #halt: StatementSync
  readonly #insertHalt: StatementSync
  readonly #deleteHalt: StatementSync
  /** Who is halted, as far as this connection has asked since another one wrote. */
  readonly #halts = new Map<string, Halt | null>()

  constructor(database: DatabaseSync) {
    this.#epoch = database.prepare('SELECT epoch FROM leases WHERE run = ?')
    this.#lease = database.prepare(
      'INSERT INTO leases (run, epoch) VALUES (?, 1) ON CONFLICT (run) DO UPDATE SET epoch = epoch + 1 RETURNING epoch',
    )
    this.#count = database.prepare('SELECT amount FROM counters WHERE tenant = ? AND key = ?')
    this.#setCount = database.prepare(
      'INSERT INTO counters (tenant, key, amount) VALUES (?, ?, ?) ON CONFLICT (tenant, key) DO UPDATE SET amount = excluded.amount',
    )
    this.#holder = database.prepare('SELECT run FROM locks WHERE tenant = ? AND key = ?')
    this.#lock = database.prepare('INSERT OR IGNORE INTO locks (tenant, key, run) VALUES (?, ?, ?)')
    this.#unlock = database.prepare('DELETE FROM locks WHERE tenant = ? AND key = ? AND run = ?')
    this.#halt = database.prepare('SELECT principal, at, reason FROM halts WHERE tenant = ?')
    this.#insertHalt = database.prepare(
      'INSERT OR IGNORE INTO halts (tenant, principal, at, reason) VALUES (?, ?, ?, ?)',
    )
    this.#deleteHalt = database.prepare('DELETE FROM halts WHERE tenant = ?')
    this.#unlockAll = database.prepare('DELETE FROM locks WHERE run = ? AND tenant = ?')
  }

  /** The newest lease of a run; 0 if none was taken. */
  epoch(run: string): number {
    return Number(this.#epoch.get(run)?.['epoch'] ?? 0)
  }

  /** The next lease of a run. */
  takeLease(run: string): number {
    return Number(this.#lease.get(run)!['epoch'])
  }

  /** Frees what a finished run holds. */
  freeLocks(run: string, tenant: string): void {
    this.#unlockAll.run(run, tenant)
  }

  /** Forgets what may be stale: what another connection wrote, or a transaction that did not happen. */
  forget(): void {
    this.#halts.clear()
  }

  /** The same as `halted`, asked once; only inside a transaction, before which `forget` is called where others have written. */
  #haltedHere(tenant: string): Halt | null {
    let halt = this.#halts.get(tenant)
    if (halt === undefined) {
      halt = this.halted(tenant)
      this.#halts.set(tenant, halt)
    }
    return halt
  }

  /** Who halted the tenant. */
  halted(tenant: string): Halt | null {
    const row = this.#halt.get(tenant)
    if (row === undefined) return null
    return { by: String(row['principal']), at: Number(row['at']), reason: String(row['reason']) }
  }

  /** Halts a tenant, or lets it go on; says whether that changed anything. */
  setHalt(tenant: string, halt: Halt | null): boolean {
    this.#halts.delete(tenant)
    const { changes } =
      halt === null
        ? this.#deleteHalt.run(tenant)
        : this.#insertHalt.run(tenant, halt.by, halt.at, halt.reason)
    return Number(changes) > 0
  }

  /** Works out what an append changes and throws `reservation_refused` if it cannot be; the result carries it out. */
  plan(run: string, options: AppendOptions): (() => void) | null {
    const { tenant, reservations = [], releases = [] } = options
    if (reservations.length === 0 && releases.length === 0) return null
    if (releases.length === 0 && reservations.every(({ kind }) => kind === 'unhalted')) {
      const halt = this.#haltedHere(tenant)
      if (halt !== null) throw refuseHalted(reservations[0]!, halt)
      return null
    }
    const counts = new Map<string, number>()
    const count = (key: string) => counts.get(key) ?? Number(this.#count.get(tenant, key)?.['amount'] ?? 0)
    const freed = new Set(releases.filter(({ kind }) => kind === 'lock').map(({ key }) => key))
    for (const release of releases) {
      if (release.kind === 'counter')
        counts.set(release.key, Math.max(0, count(release.key) - release.amount))
    }
    for (const wanted of reservations) {
      if (wanted.kind === 'unhalted') {
        const halt = this.#haltedHere(tenant)
        if (halt !== null) throw refuseHalted(wanted, halt)
      } else if (wanted.kind === 'counter') {
        const now = count(wanted.key)
        if (now + wanted.amount > wanted.limit) throw reservationRefusal(wanted, now)
        counts.set(wanted.key, now + wanted.amount)
      } else {
        const holder = this.#holder.get(tenant, wanted.key)?.['run'] as string | undefined
        if (holder !== undefined && holder !== run) throw reservationRefusal(wanted, holder)
        freed.delete(wanted.key)
      }
    }
    return () => this.#carryOut(run, tenant, counts, freed, reservations)
  }

  #carryOut(
    run: string,
    tenant: string,
    counts: ReadonlyMap<string, number>,
    freed: ReadonlySet<string>,
    reservations: readonly (Reservation | Release)[],
  ): void {
    for (const [key, amount] of counts) this.#setCount.run(tenant, key, amount)
    for (const key of freed) this.#unlock.run(tenant, key, run)
    for (const each of reservations) if (each.kind === 'lock') this.#lock.run(tenant, each.key, run)
  }
}

function refuseHalted(wanted: Reservation, { by, reason }: Halt): ReservationRefusal {
  return reservationRefusal(wanted, `${by}: ${reason}`)
}
