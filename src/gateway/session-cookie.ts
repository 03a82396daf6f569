import type { FastifyReply, FastifyRequest } from 'fastify'
import type { NewSession } from '../directory/sessions.ts'

/** The name of the cookie that holds a session. */
export const sessionCookie = 'lockstep_session'

/** Puts a session into the cookie: no script reads it, no other site sends it along with a change, and it does not travel in clear. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, expiresAt }: NewSession,
): void {
  reply.setCookie(sessionCookie, token, { ...attributes(request), expires: new Date(expiresAt) })
}

/** Takes the cookie back. */
export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(sessionCookie, attributes(request))
}

/** On this machine itself plain HTTP is not listened to by anybody else. */
function attributes(request: FastifyRequest) {
  const secure = request.protocol === 'https' || !isLoopback(request.hostname)
  return { path: '/', httpOnly: true, sameSite: 'lax', secure } as const
}

/** Says whether the host is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}
