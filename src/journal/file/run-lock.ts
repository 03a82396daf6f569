import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { LockstepError } from '../../shared/lockstep-error.ts'

const held = new Set<string>()
process.once('exit', () => {
  for (const path of held) release(path)
})

/**
 * Takes a run for this process, so that no other one writes to it. A lock whose process is gone is taken over. Throws
 * `journal_conflict` if another live process holds it. Within one process the writes themselves are in one order.
 */
export function takeLock(path: string, run: string): void {
  if (held.has(path) || create(path)) {
    held.add(path)
    return
  }
  const owner = ownerOf(path)
  if (owner !== null && owner !== process.pid && isAlive(owner)) throw inUse(run, path, `process ${owner}`)
  // Of several that find the same abandoned lock, one may take it over.
  const taking = `${path}.taking`
  if (!create(taking)) throw inUse(run, taking, 'another process')
  try {
    const now = ownerOf(path)
    if (now !== owner && now !== null && isAlive(now)) throw inUse(run, path, `process ${now}`)
    writeFileSync(path, String(process.pid), { mode: 0o600 })
    held.add(path)
  } finally {
    unlinkSync(taking)
  }
}

/** Gives a run free again. */
export function releaseLock(path: string): void {
  if (held.delete(path)) release(path)
}

function release(path: string): void {
  try {
    if (ownerOf(path) === process.pid) unlinkSync(path)
  } catch {
    // It is gone already, or will be found abandoned.
  }
}

function create(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function ownerOf(path: string): number | null {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : null
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Not ours to signal, but there.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function inUse(run: string, path: string, by: string): LockstepError {
  return new LockstepError('journal_conflict', `Run ${run} is being written to by ${by}.`, {
    consequence: 'pause',
    hint: `Let it finish, or stop it. If no process works on the run any more, remove ${path}.`,
  })
}
