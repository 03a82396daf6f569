import type { Role } from '../api/permission.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { ActLog } from './act-log.ts'
import { newId } from './new-id.ts'
import type { Actor } from './principal.ts'
import { assertFree, found } from './refusal.ts'
import type { Binding, Subject, TenantState } from './state.ts'

/** Who has which role where. */
export class Bindings {
  readonly #log: ActLog

  constructor(log: ActLog) {
    this.#log = log
  }

  /** The bindings of the tenant, in the order in which they were made. */
  list(tenant: string): readonly Binding[] {
    return [...this.#log.state(tenant).bindings.values()]
  }

  find(tenant: string, id: string): Binding | null {
    return this.#log.state(tenant).bindings.get(id) ?? null
  }

  /** Gives a role. Throws `not_found` for an unknown subject or project, `duplicate` if it was given already. */
  async bind(actor: Actor, wanted: Omit<Binding, 'id'>): Promise<Binding> {
    const id = newId('rbd')
    return await this.#log.act(actor, (state) => {
      const { subject, role, project } = wanted
      checkSubject(state, subject)
      if (project !== null) found(state.projects.get(project), 'project', project)
      const has = state.bindingsOf.get(subject.id) ?? []
      assertFree(
        has.some((each) => each.role === role && each.project === project),
        'role of that subject,',
        role,
      )
      return {
        facts: [{ type: 'role.bound', data: { id, subject, role, project } }],
        result: ({ bindings }) => bindings.get(id)!,
      }
    })
  }

  /** Takes a role away. Throws `not_found`, or `last_admin` if nobody would be left who can give roles. */
  async unbind(actor: Actor, id: string): Promise<void> {
    await this.#log.act(actor, (state) => {
      const binding = found(state.bindings.get(id), 'role binding', id)
      assertAdminLeft(state, (each) => each.id !== binding.id)
      return { facts: [{ type: 'role.unbound', data: { id } }], result: () => undefined }
    })
  }
}

/** Throws `last_admin` unless an enabled user is Admin of the whole tenant by a binding that stays. */
export function assertAdminLeft(state: TenantState, stays: (binding: Binding) => boolean): void {
  const isAdmin = (binding: Binding) =>
    binding.subject.kind === 'user' &&
    binding.role === ('Admin' satisfies Role) &&
    binding.project === null &&
    state.users.get(binding.subject.id)?.disabled === false
  const admins = [...state.bindings.values()].filter(isAdmin)
  if (admins.length === 0 || admins.some(stays)) return
  throw new LockstepError('last_admin', 'Nobody would be left who is Admin of the tenant.', {
    hint: 'Give the role Admin to somebody else first.',
  })
}

function checkSubject(state: TenantState, { kind, id }: Subject): void {
  if (kind === 'user') found(state.users.get(id), 'user', id)
  else if (found(state.keys.get(id), 'API key', id).revoked)
    throw new LockstepError('not_found', `The API key ${id} was revoked.`)
}
