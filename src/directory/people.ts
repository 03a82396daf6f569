import type { Role } from '../api/permission.ts'
import type { Act, ActLog } from './act-log.ts'
import { assertAdminLeft } from './bindings.ts'
import { linkLifetime, planLink, type NewLink } from './links.ts'
import { newId } from './new-id.ts'
import type { Actor } from './principal.ts'
import { assertFree, found } from './refusal.ts'
import type { TenantState, User } from './state.ts'

/** Somebody to be added. */
export interface NewUser {
  readonly email: string
  readonly name: string
  /** The role in the whole tenant, if there shall be one. */
  readonly role?: Role | undefined
}

/** The people of tenants. Nobody is ever removed: their names stand in the record. */
export class People {
  readonly #log: ActLog
  readonly #linkMs: number

  constructor(log: ActLog, linkMs = linkLifetime) {
    this.#log = log
    this.#linkMs = linkMs
  }

  /** The users of the tenant, in the order in which they were added. */
  list(tenant: string): readonly User[] {
    return [...this.#log.state(tenant).users.values()]
  }

  find(tenant: string, id: string): User | null {
    return this.#log.find(tenant)?.users.get(id) ?? null
  }

  /** The user with the address, whatever its case; null if there is none. */
  byEmail(tenant: string, email: string): User | null {
    const state = this.#log.find(tenant)
    const id = state?.emails.get(email.toLowerCase())
    return id === undefined ? null : (state!.users.get(id) ?? null)
  }

  /** Says whether the user, and the account that signs in for it, may do anything at all. */
  isActive(tenant: string, id: string): boolean {
    const user = this.find(tenant, id)
    if (user === null || user.disabled) return false
    return user.home === null || this.isActive(user.home.tenant, user.home.user)
  }

  /** Adds somebody, with a link to sign in by. Throws `duplicate` if the address is taken. */
  async add(
    actor: Actor,
    { email, name, role }: NewUser,
  ): Promise<{ readonly user: User; readonly link: NewLink }> {
    const [id, binding] = [newId('usr'), newId('rbd')]
    return await this.#log.act(actor, (state, at) => {
      assertFree(state.emails.has(email.toLowerCase()), 'user', email)
      const link = planLink(id, at, this.#linkMs)
      return {
        facts: [
          { type: 'user.added', data: { id, email: email.toLowerCase(), name, home: null } },
          ...(role === undefined
            ? []
            : [
                {
                  type: 'role.bound' as const,
                  data: { id: binding, subject: { kind: 'user' as const, id }, role, project: null },
                },
              ]),
          link.fact,
        ],
        keep: [link.credential],
        result: ({ users }) => ({ user: users.get(id)!, link: link.made }),
      }
    })
  }

  async rename(actor: Actor, id: string, name: string): Promise<User> {
    return await this.#log.act(actor, (state) => {
      const user = found(state.users.get(id), 'user', id)
      return {
        facts: user.name === name ? [] : [{ type: 'user.renamed', data: { id, name } }],
        result: ({ users }) => users.get(id)!,
      }
    })
  }

  /** Shuts somebody out at once: sessions and links end, keys count no more. Throws `last_admin` for the last one who can give roles. */
  async disable(actor: Actor, id: string): Promise<User> {
    return await this.#log.act(actor, (state) => planDisabling(state, id))
  }

  async enable(actor: Actor, id: string): Promise<User> {
    return await this.#log.act(actor, (state) => {
      const user = found(state.users.get(id), 'user', id)
      return {
        facts: user.disabled ? [{ type: 'user.enabled', data: { id } }] : [],
        result: ({ users }) => users.get(id)!,
      }
    })
  }
}

function planDisabling(state: TenantState, id: string): Act<User> {
  const user = found(state.users.get(id), 'user', id)
  const result = ({ users }: TenantState) => users.get(id)!
  if (user.disabled) return { facts: [], result }
  assertAdminLeft(state, ({ subject }) => subject.id !== id)
  const ended = [...state.sessions.values(), ...state.links.values()].filter((each) => each.user === id)
  return { facts: [{ type: 'user.disabled', data: { id } }], forget: ended.map((each) => each.id), result }
}
