import type { z } from 'zod'
import type { me } from '../api/access-shapes.ts'
import { title, type object } from '../api/shape.ts'
import type { meRoutes } from '../api/sign-in-routes.ts'
import { permissionsIn } from '../directory/authorise.ts'
import { actorOf, type Actor, type Principal } from '../directory/principal.ts'
import { csrfToken } from '../directory/sessions.ts'
import { accountOf, type AccessSetup } from './access-setup.ts'
import { iso, showProject, showSession, showTenant } from './access-views.ts'
import type { HandlersOf } from './handler.ts'
import { RequestError } from './problem.ts'
import { originOf } from './same-origin.ts'
import { clearSessionCookie, sessionCookie } from './session-cookie.ts'
import { retryLater } from './sign-in-routes.ts'

/** Answers everybody about their own account. A key is nobody: it has no account, and cannot reach its owner's. */
export function meHandlers({ directory, trusted }: AccessSetup): HandlersOf<keyof typeof meRoutes> {
  const own = (
    principal: Principal,
  ): { readonly actor: Actor; readonly tenant: string; readonly user: string } => {
    const account = principal.subject.kind === 'user' ? accountOf(directory, principal) : null
    if (account === null)
      throw new RequestError('forbidden', 'A key has no account of its own.', {
        hint: 'Sign in as a person.',
      })
    return { ...account, actor: actorOf({ ...account, actor: principal.actor }) }
  }
  const show = (
    principal: Principal,
    project: string | null,
    token: string | undefined,
  ): z.input<typeof me> => {
    const { tenant, subject, person, roles, how } = principal
    const account = accountOf(directory, principal)
    const isUser = subject.kind === 'user'
    const everywhere = account === null || !isUser ? [] : directory.tenants.of(account.tenant, account.user)
    const here = directory.tenants.find(tenant)!
    return {
      ...subject,
      email: isUser ? person : null,
      how,
      tenant: showTenant(here),
      tenants: isUser ? everywhere.map(({ state }) => showTenant(state)) : [showTenant(here)],
      projects: directory.projects
        .list(tenant)
        .filter(({ id }) => roles.some((role) => role.project === null || role.project === id))
        .map(showProject),
      roles: roles.map((each) => ({ role: each.role, project: each.project })),
      permissions: [...permissionsIn(principal, { tenant, project })],
      csrfToken: principal.session === null || token === undefined ? null : csrfToken(token),
    }
  }
  return {
    getMe: ({ principal, project, request }) => show(principal, project, request.cookies[sessionCookie]),
    updateMe: async ({ principal, project, body, request }) => {
      own(principal)
      const { name } = await directory.people.rename(actorOf(principal), principal.subject.id, body.name)
      const renamed = { ...principal, subject: { ...principal.subject, name } }
      return show(renamed, project, request.cookies[sessionCookie])
    },
    setPassword: async ({ principal, body, request }) => {
      const { actor, user } = own(principal)
      const { current, password } = body
      const { session } = principal
      await directory.passwords
        .set(actor, user, { current, password, session, address: request.ip })
        .catch((error: unknown) => {
          throw retryLater(error)
        })
    },
    listSessions: ({ principal }) => {
      const { tenant, user } = own(principal)
      const sessions = directory.sessions.list(tenant, user)
      return { items: sessions.map((each) => showSession(each, principal.session)) }
    },
    endSession: async ({ principal, params, request, reply }) => {
      const { actor, user } = own(principal)
      await directory.sessions.end(actor, user, params.id)
      if (params.id === principal.session) clearSessionCookie(request, reply)
    },
    passkeyOptions: async ({ principal, request }) => {
      const { tenant, user } = own(principal)
      const origin = originOf(request, trusted)
      return (await directory.passkeys.beginAdding(tenant, user, { origin })) as z.input<typeof object>
    },
    addPasskey: async ({ principal, body, request }) => {
      const { actor, user } = own(principal)
      const name = title.safeParse(body['name']).data ?? 'Passkey'
      const { id } = await directory.passkeys.add(actor, user, body, name, {
        origin: originOf(request, trusted),
      })
      return { id }
    },
    listPasskeys: ({ principal }) => {
      const { tenant, user } = own(principal)
      const passkeys = directory.passkeys.list(tenant, user)
      return { items: passkeys.map(({ id, name, createdAt }) => ({ id, name, createdAt: iso(createdAt) })) }
    },
    removePasskey: async ({ principal, params }) => {
      const { actor, user } = own(principal)
      await directory.passkeys.remove(actor, user, params.id)
    },
  }
}
