import type { Role } from '../api/permission.ts'
import type { Authorship } from '../journal/journal.ts'
import type { SignInWay } from './state.ts'

/** A role that counts in a project; in the whole tenant where `project` is null. */
export interface RoleGrant {
  readonly role: Role
  readonly project: string | null
}

/** Who makes a request, as it was established. */
export interface Principal {
  readonly tenant: string
  readonly subject: { readonly kind: 'user' | 'apikey'; readonly id: string; readonly name: string }
  /** The address of the person whose doing it is: of the user, or of who made the key; null for a key that nobody made. */
  readonly person: string | null
  /** The user in this tenant whose doing it is; null for a key that nobody made. */
  readonly user: string | null
  /** As the chains name who did something: the address of a user, `apikey:` and the id of a key. */
  readonly actor: string
  /** The roles as they are at this moment. */
  readonly roles: readonly RoleGrant[]
  readonly how: SignInWay | 'apikey'
  /** The session that the request belongs to; null for a key. */
  readonly session: string | null
}

/** On whose behalf an administrative act is done. */
export interface Actor extends Authorship {
  /** The user whose doing it is; null for Lockstep itself. */
  readonly user: string | null
}

/** The principal as one who acts. */
export function actorOf({ tenant, actor, user }: Pick<Principal, 'tenant' | 'actor' | 'user'>): Actor {
  return { tenant, principal: actor, user }
}

/** Lockstep itself, as at the first start. */
export function systemActor(tenant: string): Actor {
  return { tenant, principal: 'lockstep', user: null }
}
