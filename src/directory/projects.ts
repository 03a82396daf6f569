import { LockstepError } from '../shared/lockstep-error.ts'
import type { ActLog } from './act-log.ts'
import { newId } from './new-id.ts'
import type { Actor } from './principal.ts'
import { assertFree, found } from './refusal.ts'
import type { Project, TenantState } from './state.ts'

/** The name of the project that every tenant has: what is put nowhere else lies there. */
export const defaultProject = 'default'

/** The projects of tenants. */
export class Projects {
  readonly #log: ActLog

  constructor(log: ActLog) {
    this.#log = log
  }

  /** The projects of the tenant, in the order in which they were made. */
  list(tenant: string): readonly Project[] {
    return [...this.#log.state(tenant).projects.values()]
  }

  /** The project with the id or name; null if there is none. */
  find(tenant: string, nameOrId: string): Project | null {
    return findProject(this.#log.state(tenant), nameOrId)
  }

  /** The project for what names none. */
  default(tenant: string): Project {
    return found(this.find(tenant, defaultProject), 'project', defaultProject)
  }

  /** Makes a project. Throws `duplicate` if the name is taken. */
  async make(actor: Actor, name: string): Promise<Project> {
    const id = newId('prj')
    return await this.#log.act(actor, (state) => {
      assertFree(findProject(state, name) !== null, 'project', name)
      return {
        facts: [{ type: 'project.made', data: { id, name } }],
        result: ({ projects }) => projects.get(id)!,
      }
    })
  }

  /** Renames a project. Throws `not_found`, or `duplicate` if the name is taken. */
  async rename(actor: Actor, id: string, name: string): Promise<Project> {
    return await this.#log.act(actor, (state) => {
      const project = own(state, id)
      const result = ({ projects }: TenantState) => projects.get(id)!
      if (project.name === name) return { facts: [], result }
      assertFree(findProject(state, name) !== null, 'project', name)
      return { facts: [{ type: 'project.renamed', data: { id, name } }], result }
    })
  }

  /** Removes a project. Throws `in_use` while something is in it; what is in it besides the directory's own things, the caller says. */
  async remove(actor: Actor, id: string, alsoHolds: readonly string[] = []): Promise<void> {
    await this.#log.act(actor, (state) => {
      const project = own(state, id)
      const holds = [...contentsOf(state, id), ...alsoHolds]
      if (holds.length > 0)
        throw new LockstepError('in_use', `The project ${project.name} holds ${holds.join(', ')}.`, {
          hint: 'Delete what is in it, and take away the roles in it, first.',
        })
      return { facts: [{ type: 'project.removed', data: { id } }], result: () => undefined }
    })
  }
}

/** The project with the id or name; null if there is none. */
export function findProject(state: TenantState, nameOrId: string): Project | null {
  const byId = state.projects.get(nameOrId)
  if (byId !== undefined) return byId
  for (const project of state.projects.values()) if (project.name === nameOrId) return project
  return null
}

/** The default project stays as it is: what names no project relies on it. */
function own(state: TenantState, id: string): Project {
  const project = found(state.projects.get(id), 'project', id)
  if (project.name === defaultProject)
    throw new LockstepError(
      'in_use',
      `The project ${defaultProject} stays: what names no project lies there.`,
    )
  return project
}

function contentsOf(state: TenantState, id: string): readonly string[] {
  const inside = (things: Iterable<{ readonly project: string | null; readonly deleted?: boolean }>) =>
    [...things].some(({ project, deleted }) => project === id && deleted !== true)
  return [
    ...(inside(state.runbooks.values()) ? ['playbooks'] : []),
    ...(inside(state.policies.values()) ? ['policies'] : []),
    ...(inside(state.bindings.values()) ? ['roles'] : []),
  ]
}
