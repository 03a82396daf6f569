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
  /** It and the persons behind it at this moment, none of whom can approve its calls. */
  readonly persons: readonly string[]
}

/** Whoever sent a request, as one who begins a run in a project. */
export function starterOf({ actor, person, subject, roles }: Sender, project: string | null): Starter {
  return {
    actor,
    kind: subject.kind === 'apikey' ? 'apikey' : 'local',
    roles: rolesIn(roles, project),
    persons: person === null || person === actor ? [actor] : [actor, person],
  }
}

/** Whoever began a run, as they stand now: who lost a role acts without it. Somebody who is not known has none. Who was behind them is in the record. */
export function findStarter(
  directory: Directory,
  tenant: string,
  actor: string,
  project: string | null,
): Omit<Starter, 'persons'> {
  const [, kind, id = ''] = /^(apikey|hook):(.+)$/s.exec(actor) ?? []
  if (kind === 'apikey')
    return { actor, kind: 'apikey', roles: rolesIn(directory.rolesOf(tenant, id), project) }
  if (kind === 'hook') return { actor, kind: 'apikey', roles: [] }
  const user = directory.people.byEmail(tenant, actor)
  const roles = user === null ? [] : rolesIn(directory.rolesOf(tenant, user.id), project)
  return { actor, kind: 'local', roles }
}

/**
 * An actor of the chain and everybody who may have been behind it: whoever a key ever belonged to, who made a hook. For what was done at a time
 * that is not known, so that it names too many rather than too few.
 */
export function personsOf(directory: Directory, tenant: string, actor: string): readonly string[] {
  const [, kind, id = ''] = /^(apikey|hook):(.+)$/s.exec(actor) ?? []
  if (kind === 'hook') return [...new Set([actor, ...directory.hooks.makers(tenant, id)])]
  if (kind !== 'apikey') return [actor]
  const owners = directory.keys.find(tenant, id)?.owners ?? []
  return [actor, ...owners.flatMap((owner) => directory.people.find(tenant, owner)?.email ?? [])]
}

function rolesIn(roles: readonly RoleGrant[], project: string | null): readonly string[] {
  const here = roles.filter((each) => each.project === null || each.project === project)
  return [...new Set(here.map(({ role }) => role))]
}
