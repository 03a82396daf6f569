import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { LockstepError } from '../shared/lockstep-error.ts'

/** Where runs are recorded: `LOCKSTEP_HOME`, else the user's data folder. */
export function runFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { LOCKSTEP_HOME: own = '', XDG_DATA_HOME: data = '' } = env
  if (own !== '') return join(resolve(own), 'runs')
  return join(data === '' ? join(homedir(), '.local', 'share') : resolve(data), 'lockstep', 'runs')
}

/** The folder, there and writable. Throws `journal_unwritable`: a run that cannot be recorded is not begun. */
export function prepareRunFolder(folder: string = runFolder()): string {
  try {
    makeFolder(folder)
    accessSync(folder, constants.W_OK)
    return folder
  } catch (cause) {
    throw new LockstepError(
      'journal_unwritable',
      `Runs cannot be recorded in ${folder}: ${(cause as Error).message}.`,
      {
        hint: 'set LOCKSTEP_HOME to a folder that can be written',
        cause,
      },
    )
  }
}

/** Makes a folder and those above it, one by one: where a file system takes none, as /proc does, `recursive` would try for ever. */
function makeFolder(folder: string): void {
  const above = dirname(folder)
  if (above !== folder && !existsSync(above)) makeFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
