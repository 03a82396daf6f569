import { existsSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** Where Lockstep keeps what is the user's: `LOCKSTEP_HOME`, else `lockstep` in the user's data folder. */
export function dataFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { LOCKSTEP_HOME: own = '', XDG_DATA_HOME: data = '' } = env
  if (own !== '') return resolve(own)
  return join(data === '' ? join(homedir(), '.local', 'share') : resolve(data), 'lockstep')
}

/**
 * Makes a folder for its owner alone, and those above it, one by one: where a file system takes none, as /proc does, `recursive` would try
 * for ever. Throws what the file system throws.
 */
export function makeFolder(folder: string): void {
  const above = dirname(folder)
  if (above !== folder && !existsSync(above)) makeFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
