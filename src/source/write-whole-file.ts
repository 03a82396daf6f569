import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces what a file holds, all at once: whoever reads it, and whoever finds it after a crash, sees the old text or the new one.
 * Its permissions stay unless `mode` gives others, and a link stays a link. Throws what the file system throws, and then the old text is
 * still there.
 */
export function writeWholeFile(path: string, text: string, mode: number = modeOf(path)): void {
  const target = resolved(path)
  const aside = join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}.tmp`)
  const descriptor = openSync(aside, 'wx', mode & 0o777)
  try {
    try {
      writeFileSync(descriptor, text)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(aside, target)
  } catch (error) {
    rmSync(aside, { force: true })
    throw error
  }
}

function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0o644
}

/** Where a link leads; a file that is not there yet is itself. */
function resolved(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
