import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { LockstepError } from '../shared/lockstep-error.ts'
import { dataFolder, makeFolder } from '../source/data-folder.ts'

/** Where runs are recorded: `LOCKSTEP_HOME`, else the user's data folder. */
export function runFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(dataFolder(env), 'runs')
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
