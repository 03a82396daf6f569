import { localTenant } from '../directory/open-directory.ts'
import { actorOf, type Principal } from '../directory/principal.ts'
import type { AccessSetup } from './access-setup.ts'
import type { HandlersOf } from './handler.ts'
import { assertMay } from './permit.ts'
import { RequestError } from './problem.ts'
import type { Permission } from '../api/permission.ts'

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
      await secrets.set(params.id, body.value)
      await directory.noteSecret(actorOf(principal), 'secret.set', params.id)
    },
    deleteSecret: async ({ principal, params }) => {
      assertOurs(principal, 'secret:write')
      if (!secrets.list().some(({ name }) => name === params.id))
        throw new RequestError('not_found', `There is no secret ${params.id}.`)
      await secrets.remove(params.id)
      await directory.noteSecret(actorOf(principal), 'secret.forgotten', params.id)
    },
  }
}

function assertOurs(principal: Principal, permission: Permission): void {
  assertMay(principal, permission, null)
  if (principal.tenant !== localTenant)
    throw new RequestError('forbidden', `The secrets are those of the tenant ${localTenant}.`)
}
