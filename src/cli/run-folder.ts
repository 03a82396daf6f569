import { accessSync, constants, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { LockstepError } from '../shared/lockstep-error.ts'

/** Where runs are recorded: `LOCKSTEP_HOME`, else the user's data folder. */
export function runFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { LOCKSTEP_HOME: own = '', XDG_DATA_HOME: data = '' } = env
  if (own !== '') return join(resolve(own), 'runs')
  return join(data === '' ? join(homedir(), '.local', 'share') : data, 'lockstep', 'runs')
}

/** The same folder, there and writable. Throws `journal_unwritable`: a run that cannot be recorded is not begun. */
export function prepareRunFolder(): string {
  const folder = runFolder()
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
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
