import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { object } from '../api/shape.ts'
import type { authRoutes } from '../api/sign-in-routes.ts'
import { localTenant } from '../directory/open-directory.ts'
import { actorOf } from '../directory/principal.ts'
import type { NewSession } from '../directory/sessions.ts'
import { MustWaitError } from '../directory/sign-in-backoff.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { accountOf, type AccessSetup } from './access-setup.ts'
import type { HandlersOf } from './handler.ts'
import { assertSameOrigin, originOf } from './same-origin.ts'
import { clearSessionCookie, setSessionCookie } from './session-cookie.ts'
import { tooMany } from './token-bucket.ts'

/** The address that signs somebody in when it is opened: what is after `#` reaches no log on the way. */
export function linkAddress(base: string, token: string): string {
  return `${base.replace(/\/$/, '')}/console/sign-in#token=${token}`
}

/** Answers who wants to sign in or out. Another site's page cannot sign anybody in. */
export function signInHandlers({ directory, trusted }: AccessSetup): HandlersOf<keyof typeof authRoutes> {
  const enter = async (
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    signIn: (agent: string) => Promise<NewSession>,
  ) => {
    assertSameOrigin(request, trusted)
    const session = await signIn(request.headers['user-agent'] ?? '').catch((error: unknown) => {
      throw retryLater(error)
    })
    setSessionCookie(request, reply, session)
    return { next: '/console/' }
  }
  return {
    signInByLink: async (asked) =>
      await enter(asked, async (agent) => await directory.links.use(asked.body.token, agent)),
    signInByPassword: async (asked) =>
      await enter(asked, async (agent) => {
        const { email, password, tenant } = asked.body
        const address = asked.request.ip
        return await directory.passwords.signIn({
          tenant: tenant ?? localTenant,
          email,
          password,
          address,
          agent,
        })
      }),
    passkeyChallenge: async ({ request }) => {
      const options = await directory.passkeys.beginSignIn({ origin: originOf(request, trusted) })
      return options as z.input<typeof object>
    },
    signInByPasskey: async (asked) =>
      await enter(asked, async (agent) => {
        const origin = originOf(asked.request, trusted)
        return await directory.passkeys.signIn(asked.body, agent, { origin })
      }),
    signOut: async ({ principal, request, reply }) => {
      const account = accountOf(directory, principal)
      if (principal.session === null || account === null) return
      const { actor } = principal
      await directory.sessions.end(actorOf({ ...account, actor }), account.user, principal.session)
      clearSessionCookie(request, reply)
    },
  }
}

/** Who has to wait is told for how long. */
export function retryLater(error: unknown): unknown {
  if (error instanceof MustWaitError) return tooMany(Math.ceil(error.retryAfterMs / 1000), error.message)
  if (LockstepError.isInstance(error) && error.code === 'rate_limited') return tooMany(2, error.message)
  return error
}
