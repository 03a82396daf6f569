import type { Permission } from '../api/permission.ts'
import { localTenant } from '../directory/open-directory.ts'
import { actorOf, type Principal } from '../directory/principal.ts'
import { checkSecretName } from '../source/secret-name.ts'
import { fewestCharacters } from '../source/secret-store.ts'
import type { AccessSetup } from './access-setup.ts'
import type { HandlersOf } from './handler.ts'
import { assertMay } from './permit.ts'
import { RequestError } from './problem.ts'

/**
 * Answers about the secrets of the installation: they are set and never shown. Tools are bound to them for everybody, so that only the first tenant
 * has to do with them.
 */
export function secretHandlers({
  directory,
  secrets,
}: AccessSetup): HandlersOf<'listSecrets' | 'setSecret' | 'deleteSecret'> {
  return {
    listSecrets: ({ principal }) => {
      assertOurs(principal, 'secret:read')
      return { items: secrets.list().map(({ name }) => ({ name })) }
    },
    setSecret: async ({ principal, params, body }) => {
      assertOurs(principal, 'secret:write')
      checkSecretName(params.id)
      if (body.value.length < fewestCharacters)
        throw new RequestError(
          'invalid_request',
          `body.value: must have at least ${fewestCharacters} characters.`,
        )
      // First the record: nothing is changed that it does not tell of.
      await directory.noteSecret(actorOf(principal), 'secret.set', params.id)
      await secrets.set(params.id, body.value)
    },
    deleteSecret: async ({ principal, params }) => {
      assertOurs(principal, 'secret:write')
      if (!secrets.list().some(({ name }) => name === params.id))
        throw new RequestError('not_found', `There is no secret ${params.id}.`)
      await directory.noteSecret(actorOf(principal), 'secret.forgotten', params.id)
      await secrets.remove(params.id)
    },
  }
}

function assertOurs(principal: Principal, permission: Permission): void {
  assertMay(principal, permission, null)
  if (principal.tenant !== localTenant)
    throw new RequestError('forbidden', `The secrets are those of the tenant ${localTenant}.`)
}
