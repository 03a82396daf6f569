import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LockstepError } from '../shared/lockstep-error.ts'

/** The chained store of a data folder. */
export const storeFile = 'journal.db'

/** The file of a run that is kept as lines of JSON in a folder of runs. */
export function runFile(folder: string, run: string): string {
  return join(folder, `${run}.jsonl`)
}

/** The file in which a run of a folder of runs is written down. */
export function recordPath(folder: string, run: string): string {
  const file = runFile(folder, run)
  return existsSync(file) ? file : join(dirname(folder), storeFile)
}

/** Whether new runs are kept as files, as `LOCKSTEP_STORE=files` asks for. Throws `usage` for a store that there is not. */
export function usesFiles(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const store = env['LOCKSTEP_STORE'] ?? ''
  if (store === 'files') return true
  if (store === 'sqlite' || store === '') return false
  throw new LockstepError('usage', `LOCKSTEP_STORE is ${store}, and there is no such store`, {
    hint: 'sqlite (the default) or files',
  })
}
