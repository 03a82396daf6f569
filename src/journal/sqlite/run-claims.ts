/**
 * Which runs have not ended, and which process is at work on each.
 *
 * Owns: the table `open_runs`. A process is known by the lock it holds, so that the runs of one that was killed are free.
 *
 * Invariants
 * O1  A run that was opened and not closed is listed; a closed one is not, and whoever claims it then, as a vote that comes late does, takes nothing.
 * O2  Two live processes never hold the same run: whoever appends to it first holds it until the run ends or the store is closed.
 */
import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { LockstepError } from '../../shared/lockstep-error.ts'
import { isProcessLocked, takeProcessLock, type ProcessLock } from '../process-lock.ts'

/** Who writes in this process, by store: several connections of one process are one writer. */
const writers = new Map<string, { readonly token: string; readonly lock: ProcessLock; users: number }>()

/** The claims of one connection, inside transactions of its caller. */
export class RunClaims {
  readonly #folder: string
  readonly #database: DatabaseSync
  readonly #holder: StatementSync
  readonly #begun: StatementSync
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #delete: StatementSync
  #token: string | null = null
  #held = new Set<string>()

  constructor(database: DatabaseSync, path: string) {
    this.#folder = join(dirname(path), 'writers')
    this.#database = database
    this.#holder = database.prepare('SELECT holder FROM open_runs WHERE run = ?')
    this.#begun = database.prepare('SELECT 1 FROM chains WHERE name = ?')
    this.#insert = database.prepare('INSERT INTO open_runs (run, holder) VALUES (?, ?)')
    this.#update = database.prepare('UPDATE open_runs SET holder = ? WHERE run = ?')
    this.#delete = database.prepare('DELETE FROM open_runs WHERE run = ?')
  }

  /** Takes a run for this process (O2), unless it has ended (O1). Throws `journal_conflict` if a live one has it. */
  take(run: string): void {
    if (this.#held.has(run)) return
    const token = (this.#token ??= this.#join())
    const row = this.#holder.get(run)
    const holder = (row?.['holder'] ?? null) as string | null
    if (row === undefined) {
      // It was begun and is not listed, so it has ended.
      if (this.#begun.get(run) !== undefined) return
      this.#insert.run(run, token)
    } else if (holder !== token) {
      if (holder !== null && isProcessLocked(join(this.#folder, holder))) throw inUse(run, holder)
      this.#update.run(token, run)
    }
    this.#held.add(run)
  }

  /** A run that has ended is nobody's (O1). */
  end(run: string): void {
    this.#delete.run(run)
    this.#held.delete(run)
  }

  /** Forgets what may not have been kept, as after a transaction that did not happen. */
  forget(): void {
    this.#held = new Set()
  }

  /** Gives every run back that this connection took; those that were never begun are forgotten. */
  release(): void {
    for (const run of this.#held) this.#update.run(null, run)
    this.#database.exec('DELETE FROM open_runs WHERE holder IS NULL AND run NOT IN (SELECT name FROM chains)')
    this.#held = new Set()
  }

  /** Leaves the store, with whatever is held there no longer. */
  leave(): void {
    const writer = this.#token === null ? undefined : writers.get(this.#folder)
    this.#token = null
    if (writer === undefined || --writer.users > 0) return
    writers.delete(this.#folder)
    writer.lock.release()
  }

  get holds(): boolean {
    return this.#held.size > 0
  }

  #join(): string {
    const known = writers.get(this.#folder)
    if (known !== undefined) {
      known.users++
      return known.token
    }
    const token = `${process.pid}.${randomUUID()}`
    writers.set(this.#folder, { token, lock: lockAs(join(this.#folder, token)), users: 1 })
    return token
  }
}

function lockAs(path: string): ProcessLock {
  try {
    return takeProcessLock(path)!
  } catch (cause) {
    throw new LockstepError(
      'journal_unwritable',
      `${path} cannot be written, so nobody would know who is at work.`,
      {
        cause,
        consequence: 'pause',
        hint: 'Give this user the permission to write to the folder.',
      },
    )
  }
}

function inUse(run: string, holder: string): LockstepError {
  const [pid] = holder.split('.')
  return new LockstepError('journal_conflict', `Run ${run} is being written to by process ${pid}.`, {
    consequence: 'pause',
    hint: 'Let it finish, or stop it.',
  })
}
