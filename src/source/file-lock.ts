/**
 * Lets one writer at a time at a file, whichever process it is in.
 *
 * Owns: the file `PATH.lock`, and `PATH.lock.taking` for a moment.
 *
 * Invariants
 * F1  Two pieces of work under the same path never overlap, in one process or in several.
 * F2  A lock is there whole or not at all: it always says whose it is.
 * F3  A lock whose process is gone is taken over by one of those who wait; one that somebody may still hold never is.
 */
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

/** Who holds a lock. Of another machine nobody can say whether the process is there. */
interface Holder {
  readonly pid: number
  readonly host: string
  readonly since: number
  readonly token: string
}

/** Somebody else held the lock for as long as this one waited. */
export class LockHeldError extends Error {
  /** The file to remove if its holder is gone. */
  readonly path: string

  constructor(path: string, by: string) {
    super(`${by} is writing there`)
    this.name = 'LockHeldError'
    this.path = path
  }
}

/**
 * Does work while nobody else does any under the same path. Waits for the others; throws LockHeldError when that takes too long, and what the
 * work throws.
 */
export async function withFileLock<Result>(
  path: string,
  work: () => Result | Promise<Result>,
  waitMs = 10_000,
): Promise<Result> {
  const lock = `${path}.lock`
  const token = randomUUID()
  const until = performance.now() + waitMs
  while (!take(lock, token)) {
    if (performance.now() >= until) throw new LockHeldError(lock, describe(holderOf(lock)))
    if (isAbandoned(holderOf(lock))) clear(lock)
    // Not all at the same time again.
    await pause(5 + Math.random() * 20)
  }
  try {
    return await work()
  } finally {
    if (holderOf(lock)?.token === token) rmSync(lock, { force: true })
  }
}

/** Written aside and then given its name, so that nobody reads half of it (F2), and the first one wins (F1). */
function take(lock: string, token: string): boolean {
  const holder: Holder = { pid: process.pid, host: hostname(), since: Date.now(), token }
  const aside = `${lock}.${token}`
  try {
    writeFileSync(aside, JSON.stringify(holder), { mode: 0o600 })
    linkSync(aside, lock)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/** Removes a lock nobody holds. Only one may do so at a time: another could have taken it since it was looked at (F3). */
function clear(lock: string): void {
  const taking = `${lock}.taking`
  if (!take(taking, randomUUID())) return
  try {
    if (isAbandoned(holderOf(lock))) unlinkSync(lock)
  } finally {
    rmSync(taking, { force: true })
  }
}

function holderOf(lock: string): Holder | null {
  try {
    return JSON.parse(readFileSync(lock, 'utf8')) as Holder
  } catch {
    return null
  }
}

function isAbandoned(holder: Holder | null): boolean {
  if (holder === null || holder.host !== hostname()) return false
  // In a container the number of a process comes back: a lock from before this one began is not its own.
  if (holder.pid === process.pid) return holder.since < Date.now() - process.uptime() * 1000 - 1000
  try {
    process.kill(holder.pid, 0)
    return false
  } catch (error) {
    // Not ours to signal, but there.
    return (error as NodeJS.ErrnoException).code !== 'EPERM'
  }
}

function describe(holder: Holder | null): string {
  return holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`
}
