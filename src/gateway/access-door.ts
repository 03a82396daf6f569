/**
 * Who may come in, by the directory.
 *
 * Invariants
 * O1  A request that says who it is from is from them or refused: what does not hold is never taken for nobody.
 * O2  A key counts before a cookie. With a cookie alone nothing is changed without the token that only a page of our own can know, and not from another site.
 * O3  Who guesses at keys or sessions is slowed down by where they are.
 */
import type { FastifyRequest } from 'fastify'
import { timingSafeEqual } from 'node:crypto'
import type { Permission } from '../api/permission.ts'
import { authorise, projectsWith } from '../directory/authorise.ts'
import type { Directory } from '../directory/directory.ts'
import type { Principal } from '../directory/principal.ts'
import { csrfToken } from '../directory/sessions.ts'
import { header } from './bind-routes.ts'
import type { Door } from './door.ts'
import { assertMay, forbidden } from './permit.ts'
import { RequestError } from './problem.ts'
import { assertSameOrigin, type TrustedOrigins } from './same-origin.ts'
import { sessionCookie } from './session-cookie.ts'
import { defaultRate, TokenBuckets, type Rate } from './token-bucket.ts'

/** How the door is set up. */
export interface AccessDoorOptions extends TrustedOrigins {
  readonly directory: Directory
  readonly rate?: Rate
  readonly now?: () => number
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** What tells a load balancer that the process lives is not counted. */
const uncounted: ReadonlySet<unknown> = new Set(['health', 'ready'])

/** The door of a gateway that knows people and keys by the directory. */
export class AccessDoor implements Door {
  readonly #options: AccessDoorOptions
  readonly #buckets: TokenBuckets

  constructor(options: AccessDoorOptions) {
    this.#options = options
    this.#buckets = new TokenBuckets(options.rate ?? defaultRate, options.now ?? Date.now)
  }

  async identify(request: FastifyRequest): Promise<Principal | null> {
    const { directory } = this.#options
    const key = keyOf(request)
    const tenant = header(request, 'x-tenant')
    if (key !== null) {
      const principal = directory.principalOfKey(key) ?? this.#refuse(request)
      if (tenant !== null && tenant !== principal.tenant) throw noTenant(tenant)
      return principal
    }
    const token = request.cookies[sessionCookie]
    if (token === undefined) return null
    const principal = directory.principalOfSession(token) ?? this.#refuse(request)
    if (!safeMethods.has(request.method)) this.#assertOwnPage(request, token)
    if (tenant === null || tenant === principal.tenant) return principal
    const there = directory.principalOfSession(token, tenant)
    if (there === null) throw noTenant(tenant)
    return there
  }

  admit(request: FastifyRequest, principal: Principal | null): void {
    const { name } = request.routeOptions.config as { name?: unknown }
    if (uncounted.has(name)) return
    this.#buckets.take(principal === null ? `address ${request.ip}` : `subject ${principal.subject.id}`)
  }

  project(principal: Principal, name: string | null): string | null {
    if (name === null) return null
    const project = this.#options.directory.projects.find(principal.tenant, name)
    const isTheirs = principal.roles.some((role) => role.project === null || role.project === project?.id)
    if (project === null || !isTheirs) throw new RequestError('not_found', `There is no project ${name}.`)
    return project.id
  }

  /** Where the request names no project, having the permission somewhere is enough: the handler looks at each thing by itself. */
  assertPermitted(principal: Principal, permission: Permission, project: string | null): void {
    if (project !== null) return assertMay(principal, permission, project)
    const everywhere = authorise(principal, permission, { tenant: principal.tenant, project: null })
    if (everywhere === 'allowed') return
    const somewhere = projectsWith(principal, permission)
    if (somewhere !== 'all' && somewhere.size === 0) throw forbidden(permission)
  }

  #refuse(request: FastifyRequest): never {
    this.#buckets.take(`address ${request.ip}`)
    throw new RequestError('unauthenticated', 'The key or session does not count, or not any more.', {
      hint: 'Sign in again, or send an API key that was not revoked and has not expired.',
      headers: { 'www-authenticate': 'Bearer' },
    })
  }

  #assertOwnPage(request: FastifyRequest, token: string): void {
    assertSameOrigin(request, this.#options)
    const [given, right] = [header(request, 'x-csrf-token') ?? '', csrfToken(token)].map((text) =>
      Buffer.from(text),
    )
    if (given!.length === right!.length && timingSafeEqual(given!, right!)) return
    throw new RequestError('forbidden', 'x-csrf-token is missing or is not the one of this session.', {
      hint: 'Take it from GET /me.',
    })
  }
}

/** The key that a request carries, whatever it is worth; null if it carries none. */
function keyOf(request: FastifyRequest): string | null {
  const { authorization } = request.headers
  const given = request.headers['x-api-key']
  if (authorization === undefined && given === undefined) return null
  const bearer = authorization === undefined ? null : (/^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '')
  // Two keys that differ are no key.
  return bearer !== null && given !== undefined && given !== bearer ? '' : (bearer ?? String(given))
}

function noTenant(tenant: string): RequestError {
  return new RequestError('not_found', `There is no tenant ${tenant}.`)
}
