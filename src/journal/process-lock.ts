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
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { storeFailure } from './store-failure.ts'
import { loadSqlite } from './load-sqlite.ts'

/** A lock that is held. */
export interface ProcessLock {
  /** Gives it back; again is no matter. */
  release(): void
}

/** Takes the lock of a file; null if somebody else holds it (L1). Throws what the system says to a file that cannot be made. */
export function takeProcessLock(path: string): ProcessLock | null {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const before = makeFile(path)
    const database = hold(path)
    // Who only looks whether it is held holds it for a moment.
    if (database === null) Atomics.wait(pause, 0, 0, pauseMs)
    else if (numberOf(path) === before) return held(path, database)
    // The file was removed before it was locked: a lock on what nobody finds any more is none (L1).
    else database.close()
  }
  return null
}

const attempts = 5
const pauseMs = 10
const pause = new Int32Array(new SharedArrayBuffer(4))

function held(path: string, database: DatabaseSync): ProcessLock {
  return {
    release() {
      if (!database.isOpen) return
      // The file goes first: who finds none knows that nobody holds it.
      rmSync(path, { force: true })
      database.close()
    },
  }
}

/** Makes the file if there is none, and gives its number in the file system. */
function makeFile(path: string): number {
  const file = openSync(path, 'a', 0o600)
  try {
    return fstatSync(file).ino
  } finally {
    closeSync(file)
  }
}

function numberOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null
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
/** SQLITE_IOERR_FSTAT: whoever held the lock removed the file between opening and looking at it. */
const removed = 1802

function hold(path: string): DatabaseSync | null {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    const { errcode = 0 } = error as { errcode?: number }
    if (errcode % 256 === busy || errcode === removed) return null
    throw storeFailure(error, path)
  }
}
