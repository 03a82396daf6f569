import type { Permission } from '../api/permission.ts'
import { authorise, projectsWith } from '../directory/authorise.ts'
import type { Principal } from '../directory/principal.ts'
import { RequestError } from './problem.ts'

/**
 * Throws unless they may do that to a thing of the project (of the tenant as a whole, for null): `not_found` for what they may not even know of, `forbidden` for
 * the rest. Every handler asks this about the thing it has found.
 */
export function assertMay(principal: Principal, permission: Permission, project: string | null): void {
  const said = authorise(principal, permission, { tenant: principal.tenant, project })
  if (said === 'allowed') return
  throw said === 'hidden' ? new RequestError('not_found', 'There is no such thing.') : forbidden(permission)
}

/** The thing, if they may see it; throws `not_found` if it is not there, or is of a project that they may not read. */
export function visible<Thing extends { readonly project: string | null }>(
  asked: { readonly principal: Principal; readonly project: string | null },
  permission: Permission,
  thing: Thing | null | undefined,
): Thing {
  if (thing !== null && thing !== undefined && sees(asked, permission)(thing.project)) return thing
  throw new RequestError('not_found', 'There is no such thing.')
}

/** Says of a project (null: of none) whether a list that was asked for shows what is in it. */
export function sees(
  { principal, project }: { readonly principal: Principal; readonly project: string | null },
  permission: Permission,
): (of: string | null) => boolean {
  const where = projectsWith(principal, permission)
  return (of) => (project === null || of === project) && (where === 'all' || (of !== null && where.has(of)))
}

/** The answer to who may see and not do. */
export function forbidden(permission: Permission): RequestError {
  return new RequestError('forbidden', `Your roles do not permit ${permission}.`, {
    hint: 'Ask an Admin of the tenant or project for a role that does.',
  })
}
