import type { accessRoutes } from '../api/access-routes.ts'
import { localTenant } from '../directory/open-directory.ts'
import { actorOf, type Principal } from '../directory/principal.ts'
import { accountOf, type AccessSetup } from './access-setup.ts'
import { iso, showBinding, showKey, showProject, showTenant, showUser } from './access-views.ts'
import type { HandlersOf } from './handler.ts'
import { pageOf } from './page-of.ts'
import { assertMay, sees, visible } from './permit.ts'
import { RequestError } from './problem.ts'
import { originOf } from './same-origin.ts'
import { secretHandlers } from './secret-routes.ts'
import { linkAddress } from './sign-in-routes.ts'

/** Answers about tenants, projects, people, roles and keys. What concerns the whole tenant takes a role in the whole tenant. */
export function accessHandlers(setup: AccessSetup): HandlersOf<keyof typeof accessRoutes> {
  return {
    ...tenantHandlers(setup),
    ...projectHandlers(setup),
    ...userHandlers(setup),
    ...bindingHandlers(setup),
    ...keyHandlers(setup),
    ...secretHandlers(setup),
  }
}

function tenantHandlers({ directory }: AccessSetup): HandlersOf<'listTenants' | 'createTenant'> {
  return {
    listTenants: ({ principal }) => {
      const account = principal.subject.kind === 'user' ? accountOf(directory, principal) : null
      const states =
        account === null
          ? [directory.tenants.find(principal.tenant)!]
          : directory.tenants.of(account.tenant, account.user).map(({ state }) => state)
      return { items: states.map(showTenant) }
    },
    createTenant: async ({ principal, body }) => {
      assertMay(principal, 'tenant:write', null)
      if (principal.tenant !== localTenant)
        throw new RequestError('forbidden', `Tenants are made in the tenant ${localTenant}.`, {
          hint: 'Ask who runs this gateway.',
        })
      return showTenant(await directory.tenants.make(actorOf(principal), body))
    },
  }
}

function projectHandlers({
  directory,
  holdings,
}: AccessSetup): HandlersOf<'listProjects' | 'createProject' | 'updateProject' | 'deleteProject'> {
  const find = (principal: Principal, project: string | null, id: string) => {
    const known = directory.projects.list(principal.tenant).find((each) => each.id === id)
    const there = known === undefined ? null : { ...known, project: id }
    return visible({ principal, project }, 'project:read', there)
  }
  return {
    listProjects: (asked) => {
      const isShown = sees(asked, 'project:read')
      const projects = directory.projects.list(asked.principal.tenant).filter(({ id }) => isShown(id))
      return { items: projects.map(showProject) }
    },
    createProject: async ({ principal, body }) => {
      assertMay(principal, 'project:write', null)
      return showProject(await directory.projects.make(actorOf(principal), body.name))
    },
    updateProject: async ({ principal, project, params, body }) => {
      const { id } = find(principal, project, params.id)
      assertMay(principal, 'project:write', id)
      return showProject(await directory.projects.rename(actorOf(principal), id, body.name))
    },
    deleteProject: async ({ principal, project, params }) => {
      const { id } = find(principal, project, params.id)
      assertMay(principal, 'project:write', null)
      const held = (await holdings?.(principal.tenant, id)) ?? []
      await directory.projects.remove(actorOf(principal), id, held)
    },
  }
}

function userHandlers({
  directory,
  trusted,
}: AccessSetup): HandlersOf<'listUsers' | 'createUser' | 'updateUser' | 'makeLink'> {
  return {
    listUsers: ({ principal, query }) => {
      const { items, next } = pageOf(directory.people.list(principal.tenant), query)
      return { items: items.map((each) => showUser(directory, principal.tenant, each)), next }
    },
    createUser: async ({ principal, body, request }) => {
      assertMay(principal, 'member:write', null)
      const { user, link } = await directory.people.add(actorOf(principal), body)
      return {
        user: showUser(directory, principal.tenant, user),
        link: linkAddress(originOf(request, trusted), link.token),
      }
    },
    updateUser: async ({ principal, params, body }) => {
      assertMay(principal, 'member:write', null)
      const actor = actorOf(principal)
      const { people } = directory
      let user = people.find(principal.tenant, params.id)
      if (user === null) throw new RequestError('not_found', `There is no user ${params.id}.`)
      if (body.disabled === true) user = await people.disable(actor, user.id)
      if (body.disabled === false) user = await people.enable(actor, user.id)
      if (body.name !== undefined) user = await people.rename(actor, user.id, body.name)
      return showUser(directory, principal.tenant, user)
    },
    makeLink: async ({ principal, params, request }) => {
      assertMay(principal, 'member:write', null)
      const { token, expiresAt } = await directory.links.make(actorOf(principal), params.id)
      return { link: linkAddress(originOf(request, trusted), token), expiresAt: iso(expiresAt) }
    },
  }
}

function bindingHandlers({
  directory,
}: AccessSetup): HandlersOf<'listBindings' | 'createBinding' | 'deleteBinding'> {
  return {
    listBindings: (asked) => {
      const { tenant } = asked.principal
      const isShown = sees(asked, 'member:read')
      const { items, next } = pageOf(
        directory.bindings.list(tenant).filter(({ project }) => isShown(project)),
        asked.query,
      )
      return { items: items.map((each) => showBinding(directory, tenant, each)), next }
    },
    createBinding: async ({ principal, body }) => {
      const project = projectId(directory, principal, body.project)
      assertMay(principal, 'member:write', project)
      const made = await directory.bindings.bind(actorOf(principal), { ...body, project })
      return showBinding(directory, principal.tenant, made)
    },
    deleteBinding: async (asked) => {
      const { principal, params } = asked
      const known = directory.bindings.find(principal.tenant, params.id)
      const { id, project } = visible(asked, 'member:read', known)
      assertMay(principal, 'member:write', project)
      await directory.bindings.unbind(actorOf(principal), id)
    },
  }
}

function keyHandlers({
  directory,
}: AccessSetup): HandlersOf<'listApiKeys' | 'createApiKey' | 'rotateApiKey' | 'deleteApiKey'> {
  /** Where a key has roles: who shows, rotates or ends it needs to be permitted in all of it. */
  const reach = (tenant: string, id: string) => {
    const projects = directory.rolesOf(tenant, id).map(({ project }) => project)
    return projects.length === 0 ? [null] : projects
  }
  const assertKey = (principal: Principal, id: string) => {
    const key = directory.keys.find(principal.tenant, id)
    const isShown = sees({ principal, project: null }, 'apikey:read')
    if (key === null || !reach(principal.tenant, id).every(isShown))
      throw new RequestError('not_found', `There is no API key ${id}.`)
    for (const project of reach(principal.tenant, id)) assertMay(principal, 'apikey:write', project)
  }
  return {
    listApiKeys: (asked) => {
      const { tenant } = asked.principal
      const isShown = sees(asked, 'apikey:read')
      const keys = directory.keys.list(tenant).filter(({ id }) => reach(tenant, id).every(isShown))
      const { items, next } = pageOf(keys, asked.query)
      return { items: items.map((each) => showKey(directory, tenant, each)), next }
    },
    createApiKey: async ({ principal, body }) => {
      const project = projectId(directory, principal, body.project)
      assertMay(principal, 'apikey:write', project)
      const expiresAt = body.expiresAt === null ? null : Date.parse(body.expiresAt)
      const { key, secret } = await directory.keys.make(actorOf(principal), { ...body, project, expiresAt })
      return { key: showKey(directory, principal.tenant, key), secret }
    },
    rotateApiKey: async ({ principal, params }) => {
      assertKey(principal, params.id)
      const { key, secret } = await directory.keys.rotate(actorOf(principal), params.id)
      return { key: showKey(directory, principal.tenant, key), secret }
    },
    deleteApiKey: async ({ principal, params }) => {
      assertKey(principal, params.id)
      await directory.keys.revoke(actorOf(principal), params.id)
    },
  }
}

/** The project that a body names by name or id; null for the whole tenant. Throws `not_found`. */
function projectId(
  directory: AccessSetup['directory'],
  { tenant }: Principal,
  nameOrId: string | null,
): string | null {
  if (nameOrId === null) return null
  const project = directory.projects.find(tenant, nameOrId)
  if (project === null) throw new RequestError('not_found', `There is no project ${nameOrId}.`)
  return project.id
}
