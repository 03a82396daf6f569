/**
 * The one function that says what somebody may do.
 *
 * Invariants
 * Z1  Denied is what no role permits: an unknown permission or role permits nothing.
 * Z2  A role counts in its project, a tenant-wide one in every project of the tenant, and none in another tenant.
 * Z3  What is in another tenant, or in a project in which one has no role, is hidden: the answer is the one for what does not exist.
 */
import { permissionsOfRole, permissions, type Permission, type Role } from '../api/permission.ts'
import type { Principal } from './principal.ts'

/** Where something is to be done: in a project, or, for null, in the tenant as a whole. */
export interface Scope {
  readonly tenant: string
  readonly project: string | null
}

/** What is said to who asks: `hidden` is answered as if there were nothing, `forbidden` says that it is not permitted. */
export type Authorisation = 'allowed' | 'hidden' | 'forbidden'

/** Who asks, as far as it matters here. */
export type RoleHolder = Pick<Principal, 'tenant' | 'roles'>

/** Says whether the permission is given in the scope (Z1–Z3). */
export function authorise(holder: RoleHolder, permission: Permission, scope: Scope): Authorisation {
  if (holder.tenant !== scope.tenant) return 'hidden'
  // A role in the project comes first, then those of the tenant; both count.
  const here = [
    ...holder.roles.filter(({ project }) => project !== null && project === scope.project),
    ...holder.roles.filter(({ project }) => project === null),
  ]
  if (here.some(({ role }) => permits(role, permission))) return 'allowed'
  return scope.project !== null && here.length === 0 ? 'hidden' : 'forbidden'
}

/** The projects in which the permission is given: `all` where it is given in the whole tenant. */
export function projectsWith(holder: RoleHolder, permission: Permission): 'all' | ReadonlySet<string> {
  const granting = holder.roles.filter(({ role }) => permits(role, permission))
  if (granting.some(({ project }) => project === null)) return 'all'
  return new Set(granting.map(({ project }) => project!))
}

/** Everything that is permitted in the scope. */
export function permissionsIn(holder: RoleHolder, scope: Scope): readonly Permission[] {
  return permissions.filter((each) => authorise(holder, each, scope) === 'allowed')
}

function permits(role: Role, permission: Permission): boolean {
  return Object.hasOwn(permissionsOfRole, role) && permissionsOfRole[role].includes(permission)
}
