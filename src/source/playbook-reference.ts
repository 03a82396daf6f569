import { referenceProblem } from '../playbook/secret-reference.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { SecretReference } from './config.ts'
import { readConfigValue } from './config-value.ts'

/** Where a playbook says that a secret is. Throws `secret_unavailable` for any other text: no program is run for it, whatever the text says. */
export function readPlaybookReference(text: string): SecretReference {
  const { value } = readConfigValue(text, '/')
  if (referenceProblem(text) === null && value?.kind === 'secret') return value.reference
  throw new LockstepError('secret_unavailable', 'What the playbook says is no reference to a secret.')
}
