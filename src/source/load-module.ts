import { pathToFileURL } from 'node:url'
import { LockstepError } from '../shared/lockstep-error.ts'

/** What a file of the user's exports. Throws `invalid_config` if it cannot be loaded. */
export async function loadModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new LockstepError('invalid_config', `${path} cannot be loaded: ${why}`, { cause })
  }
}
