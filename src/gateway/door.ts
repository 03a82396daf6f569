import type { FastifyRequest } from 'fastify'
import type { Permission } from '../api/permission.ts'
import type { Principal } from '../directory/principal.ts'

/** Who may come in, and how far. */
export interface Door {
  /** Who sends the request; null if it says nothing about that. Throws `unauthenticated` for what does not hold, and `forbidden` for a change without its token. */
  identify(request: FastifyRequest): Promise<Principal | null>
  /** Throws `rate_limited` when too much comes from one sender. */
  admit(request: FastifyRequest, principal: Principal | null): void
  /** The id of the project that the request names in `x-project`; null for none. Throws `not_found` for one that is not theirs. */
  project(principal: Principal, name: string | null): string | null
  /** Throws `forbidden` unless they may, in the project or in the tenant. */
  assertPermitted(principal: Principal, permission: Permission, project: string | null): void
}
