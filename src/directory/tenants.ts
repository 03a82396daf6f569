import type { ActLog } from './act-log.ts'
import type { DirectoryFact } from './fact.ts'
import { newId } from './new-id.ts'
import type { Actor } from './principal.ts'
import { defaultProject } from './projects.ts'
import { assertFree, found } from './refusal.ts'
import type { TenantState, User } from './state.ts'

/** Who belongs together: nothing of a tenant is seen by another. */
export class Tenants {
  readonly #log: ActLog

  constructor(log: ActLog) {
    this.#log = log
  }

  find(tenant: string): TenantState | null {
    return this.#log.find(tenant)
  }

  /** All of them. */
  all(): readonly TenantState[] {
    return this.#log.tenants
  }

  /** The tenants that the user can act in, by their ids: its own, and those in which it has an account that it signs in for. */
  of(tenant: string, user: string): readonly { readonly state: TenantState; readonly user: User }[] {
    return this.#log.tenants
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .flatMap((state) => {
        const account = accountIn(state, tenant, user)
        return account === null || account.disabled ? [] : [{ state, user: account }]
      })
  }

  /** The account of a user in another tenant, or its own; null if there is none. */
  account(tenant: string, user: string, other: string): User | null {
    const state = this.#log.find(other)
    return state === null ? null : accountIn(state, tenant, user)
  }

  /** Makes a tenant, with an account in it for who makes it, as its Admin. Throws `duplicate` if there is anything of that name. */
  async make(
    actor: Actor,
    { id, name }: { readonly id: string; readonly name: string },
  ): Promise<TenantState> {
    const known = await this.#log.store.tenants()
    const maker =
      actor.user === null
        ? null
        : found(this.#log.state(actor.tenant).users.get(actor.user), 'user', actor.user)
    return await this.#log.act({ tenant: id, principal: actor.principal }, (state) => {
      // A chain with runs in it belongs to somebody, even if nobody made it here.
      assertFree(state.name !== null || known.includes(id), 'tenant', id)
      return { facts: [...tenantFacts(id, name), ...makerFacts(actor.tenant, maker)], result: (made) => made }
    })
  }
}

/** What every tenant begins with. */
export function tenantFacts(id: string, name: string): readonly DirectoryFact[] {
  return [
    { type: 'tenant.made', data: { id, name } },
    { type: 'project.made', data: { id: newId('prj'), name: defaultProject } },
  ]
}

function makerFacts(tenant: string, maker: User | null): readonly DirectoryFact[] {
  if (maker === null) return []
  const id = newId('usr')
  // The account that signs in stays the one it was: nobody of the new tenant can get at it.
  const home = maker.home ?? { tenant, user: maker.id }
  return [
    { type: 'user.added', data: { id, email: maker.email, name: maker.name, home } },
    {
      type: 'role.bound',
      data: { id: newId('rbd'), subject: { kind: 'user', id }, role: 'Admin', project: null },
    },
  ]
}

function accountIn(state: TenantState, tenant: string, user: string): User | null {
  if (state.id === tenant) return state.users.get(user) ?? null
  for (const each of state.users.values())
    if (each.home?.tenant === tenant && each.home.user === user) return each
  return null
}
