import { localTenant } from '../directory/open-directory.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

/**
 * Throws `invalid_playbook` if a playbook that somebody published over HTTP reaches for secrets that are not theirs to use. The files and variables of the process are for who
 * runs it: they come in through its configuration or its Git checkout. The store is the first tenant's.
 */
export function assertSecretReach(secrets: Playbook['secrets'], tenant: string): void {
  for (const [name, reference] of Object.entries(secrets)) {
    if (tenant === localTenant && reference.startsWith('store:')) continue
    const where = tenant === localTenant ? 'names secrets of the store alone' : 'uses no secrets'
    throw new LockstepError(
      'invalid_playbook',
      `The secret ${name} is of ${reference.split(':', 1)[0]}, and a playbook that is published here ${where}.`,
      {
        hint:
          tenant === localTenant
            ? 'Put it into the store (PUT /secrets/NAME, or lockstep secret set NAME), and name it store:NAME.'
            : `The secrets of a server are those of its tenant ${localTenant}.`,
      },
    )
  }
}
