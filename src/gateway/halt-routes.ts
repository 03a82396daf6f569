import type { haltRoutes } from '../api/run-routes.ts'
import { sendTime } from '../overview/send-entry.ts'
import { redactText } from '../shared/redact.ts'
import type { HandlersOf } from './handler.ts'
import { assertMay } from './permit.ts'
import type { RunSetup } from './run-setup.ts'

/** Stops all runs of a tenant, and lets them go on. Both concern the whole tenant, and take a role in the whole tenant. */
export function haltHandlers({ platform }: Pick<RunSetup, 'platform'>): HandlersOf<keyof typeof haltRoutes> {
  const standing = async (tenant: string) => {
    const halt = await platform.store.halted(tenant)
    return {
      halt: halt === null ? null : { by: halt.by, at: sendTime(halt.at), reason: redactText(halt.reason) },
    }
  }
  return {
    getHalt: async ({ principal }) => await standing(principal.tenant),
    setHalt: async ({ principal, body }) => {
      assertMay(principal, 'run:control', null)
      await (await platform.engineOf(principal.tenant)).halt(principal.actor, body.reason)
      return await standing(principal.tenant)
    },
    liftHalt: async ({ principal, body }) => {
      assertMay(principal, 'tenant:write', null)
      await (await platform.engineOf(principal.tenant)).unhalt(principal.actor, body.reason)
      return await standing(principal.tenant)
    },
  }
}
