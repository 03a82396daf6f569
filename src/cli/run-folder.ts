import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where runs are recorded: `LOCKSTEP_HOME`, else the user's data folder. */
export function runFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { LOCKSTEP_HOME: own = '', XDG_DATA_HOME: data = '' } = env
  if (own !== '') return join(resolve(own), 'runs')
  return join(data === '' ? join(homedir(), '.local', 'share') : data, 'lockstep', 'runs')
}
