import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { LockstepError } from '../shared/lockstep-error.ts'

type Environment = Record<string, string | undefined>

/** Which variables of an environment came from a file, so that it can be said where a value is from. */
const given = new WeakMap<Environment, ReadonlyMap<string, string>>()

/**
 * Adds the variables of the `.env` of a folder to an environment, which keeps what it has; a variable that is empty counts as one it has not. Throws `usage` for a
 * file that cannot be read.
 */
export function applyDotEnv(folder: string, env: Environment = process.env): void {
  const file = join(folder, '.env')
  const names = new Map<string, string>()
  for (const [name, value] of Object.entries(readDotEnv(file))) {
    if (value === undefined || value === '' || (env[name] ?? '') !== '') continue
    env[name] = value
    names.set(name, file)
  }
  given.set(env, names)
}

/** The `.env` that a variable came from; null if it stood in the environment itself. */
export function dotEnvOf(env: Environment, name: string): string | null {
  return given.get(env)?.get(name) ?? null
}

function readDotEnv(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    // A folder of that name, as virtual environments of other languages have it, is none of ours.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return {}
    throw new LockstepError('usage', `${file} cannot be read: ${message}`, { cause })
  }
}
