import type { Directory } from '../directory/directory.ts'
import type { Principal as Sender, RoleGrant } from '../directory/principal.ts'
import type { IdentityKind } from '../policy/policy-request.ts'

/** Who begins a run, as its record names them. */
export interface Starter {
  /** As the chain names them: an address, `apikey:` and an id, `hook:` and an id. */
  readonly actor: string
  readonly kind: IdentityKind
  /** The roles that count in the run's project at this moment. */
  readonly roles: readonly string[]
  /** The persons behind it, who cannot approve its calls. */
  readonly persons: readonly string[]
}

/** Whoever sent a request, as one who begins a run in a project. */
export function starterOf({ actor, person, subject, roles }: Sender, project: string | null): Starter {
  return {
    actor,
    kind: subject.kind === 'apikey' ? 'apikey' : 'local',
    roles: rolesIn(roles, project),
    persons: person === null ? [actor] : [person],
  }
}

/** Whoever began a run, as they stand now: who lost a role acts without it. Somebody who is not known has none. */
export function findStarter(
  directory: Directory,
  tenant: string,
  actor: string,
  project: string | null,
): Starter {
  const [, kind, id = ''] = /^(apikey|hook):(.+)$/s.exec(actor) ?? []
  if (kind === 'apikey') {
    const owner = directory.keys.find(tenant, id)?.owner ?? null
    const person = owner === null ? null : (directory.people.find(tenant, owner)?.email ?? null)
    const roles = rolesIn(directory.rolesOf(tenant, id), project)
    return { actor, kind: 'apikey', roles, persons: person === null ? [actor] : [person] }
  }
  if (kind === 'hook') {
    const hook = directory.hooks.find(id)?.hook
    return {
      actor,
      kind: 'apikey',
      roles: [],
      persons: personsOf(directory, tenant, hook?.createdBy ?? actor),
    }
  }
  const user = directory.people.byEmail(tenant, actor)
  const roles = user === null ? [] : rolesIn(directory.rolesOf(tenant, user.id), project)
  return { actor, kind: 'local', roles, persons: [actor] }
}

/** The persons behind an actor of the chain. */
export function personsOf(directory: Directory, tenant: string, actor: string): readonly string[] {
  return actor.startsWith('apikey:') ? findStarter(directory, tenant, actor, null).persons : [actor]
}

function rolesIn(roles: readonly RoleGrant[], project: string | null): readonly string[] {
  const here = roles.filter((each) => each.project === null || each.project === project)
  return [...new Set(here.map(({ role }) => role))]
}
