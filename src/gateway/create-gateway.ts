/**
 * The HTTP server.
 *
 * Owns: what is the same for every request: its id, the headers of every answer, how an error is told, the log.
 * Talks to: the handlers, which know the platform; the door, which knows who may.
 *
 * Invariants
 * W1  A handler is called only for a request that its route's access permits (bind-routes.ts). Nothing else answers but the files of the console.
 * W2  An error is told as problem+json. What is not the sender's doing tells nothing of its cause.
 * W3  No answer may be framed, sniffed, or run scripts that are not ours.
 */
import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { randomUUID } from 'node:crypto'
import { LockstepError } from '../shared/lockstep-error.ts'
import { bindRoutes, type RouteSetup } from './bind-routes.ts'
import type { Handlers } from './handler.ts'
import { problemOf } from './problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for signatures. */
    rawBody: string
  }
}

/** How a gateway is made. */
export interface GatewayOptions extends RouteSetup {
  readonly handlers: Handlers
  readonly bodyLimit?: number
  /** The origins that may read answers in a browser, besides its own. */
  readonly origins?: readonly string[]
  readonly logger?: FastifyServerOptions['logger']
  /** Adds what is no route of the contract: the console's files, pages to read. */
  readonly pages?: (app: FastifyInstance) => void | Promise<void>
  /** Whose word counts for where a request came from; nobody's if it is not said. */
  readonly trustProxy?: false | string
}

/** Every answer carries these (W3). A page that needs more sets its own policy. */
const headers = {
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const

/** Makes a gateway that listens to nothing yet. */
export async function createGateway(options: GatewayOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logger: options.logger ?? false,
    bodyLimit: options.bodyLimit ?? 2_000_000,
    genReqId: () => `req_${randomUUID()}`,
    trustProxy: options.trustProxy ?? false,
    routerOptions: { maxParamLength: 300 },
    // What a browser or a load balancer keeps open does not keep the process alive.
    forceCloseConnections: true,
  })
  await app.register(cookie)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers)
    reply.header('x-request-id', request.id)
    allowOrigin(request.headers.origin, options.origins ?? [], reply)
    if (request.method === 'OPTIONS') return await reply.code(204).send()
    reply.header('cache-control', 'no-store')
    return undefined
  })
  app.decorateRequest('rawBody', '')
  const readJson = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    request.rawBody = body as string
    // An empty body with the type of JSON is no body.
    if (body === '') done(null, undefined)
    else readJson(request, body as string, done)
  })
  app.setErrorHandler(async (error, request, reply) => {
    const { problem, headers: more } = problemOf(error, request.id)
    if (problem.status >= 500) request.log.error({ err: error }, 'a request failed')
    return await reply
      .code(problem.status)
      .headers(more)
      .type('application/problem+json')
      .send(JSON.stringify(problem))
  })
  app.setNotFoundHandler(() => {
    throw new LockstepError('not_found', 'There is no such address.', {
      hint: 'GET /openapi.json lists every one.',
    })
  })
  bindRoutes(app, options.handlers, options)
  await options.pages?.(app)
  return app
}

function allowOrigin(
  origin: string | undefined,
  allowed: readonly string[],
  reply: { headers(values: Record<string, string>): unknown },
): void {
  if (origin === undefined || !allowed.includes(origin)) return
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers':
      'authorization, content-type, idempotency-key, if-match, last-event-id, x-api-key, x-project',
    'access-control-expose-headers': 'etag, location, retry-after, x-request-id',
    'access-control-max-age': '600',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'origin',
  })
}
