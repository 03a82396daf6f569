import { realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { referenceProblem } from '../playbook/secret-reference.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { SecretReference } from './config.ts'
import { readConfigValue } from './config-value.ts'
import { dataFolder } from './data-folder.ts'

/**
 * Where a playbook says that a secret is. Throws `secret_unavailable` for any other text, so that no program is run for it, and for a file of Lockstep's own:
 * a playbook from somebody else must not have the keys of the store and the journal sent anywhere.
 */
export function readPlaybookReference(text: string, home = dataFolder()): SecretReference {
  const { value } = readConfigValue(text, '/')
  if (referenceProblem(text) !== null || value?.kind !== 'secret')
    throw new LockstepError('secret_unavailable', 'What the playbook says is no reference to a secret.')
  const { reference } = value
  if (reference.from === 'file' && isInside(reference.path, home)) {
    throw new LockstepError(
      'secret_unavailable',
      `The secret ${text} lies in the data folder of Lockstep, and what is there is given to no call.`,
    )
  }
  return reference
}

/** Whether a path leads into a folder, also by way of links. */
function isInside(path: string, folder: string): boolean {
  const way = relative(whole(folder), whole(path))
  return !/^\.\.(?:[\\/]|$)/.test(way) && !isAbsolute(way)
}

function whole(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // It is not there, so nothing can be read from it.
    return path
  }
}
