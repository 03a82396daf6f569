/**
 * A lock that lasts as long as its process, however that ends.
 *
 * Owns: a file per lock. The lock itself is the system's, taken through SQLite, so that it is gone when the process is: no number of a process
 * is compared, which would be wrong in another container, after a restart, or on a machine that was renamed.
 *
 * Invariants
 * L1  Of all processes and connections at most one holds a lock.
 * L2  A lock whose process was killed is free at once.
 */
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { loadSqlite } from './load-sqlite.ts'

/** A lock that is held. */
export interface ProcessLock {
  /** Gives it back; again is no matter. */
  release(): void
}

/** Takes the lock of a file; null if somebody else holds it (L1). Throws what the system says to a file that cannot be made. */
export function takeProcessLock(path: string): ProcessLock | null {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
  const database = hold(path)
  if (database === null) return null
  return {
    release() {
      if (!database.isOpen) return
      // The file goes first: who finds none knows that nobody holds it.
      rmSync(path, { force: true })
      database.close()
    },
  }
}

/** Says whether somebody holds the lock of a file; the file of a lock that nobody holds is removed. */
export function isProcessLocked(path: string): boolean {
  if (!existsSync(path)) return false
  const database = hold(path)
  if (database === null) return true
  rmSync(path, { force: true })
  database.close()
  return false
}

/** SQLITE_BUSY. */
const busy = 5

function hold(path: string): DatabaseSync | null {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === busy) return null
    throw error
  }
}
