import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { contract, type RouteName } from '../api/contract.ts'
import type { RouteShape } from '../api/route.ts'
import type { Principal } from '../directory/principal.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { AnswerBook, KnownAnswer } from './answer-book.ts'
import type { Door } from './door.ts'
import { Answer, WrittenJson, type Asked, type Handler, type Handlers } from './handler.ts'
import { misfit, problemOf, RequestError } from './problem.ts'

/** What routes stand on. */
export interface RouteSetup {
  readonly door: Door
  /** Remembers what was answered to requests with an `Idempotency-Key`. */
  readonly answers: AnswerBook
  /** Whether every answer is held against the contract, as tests want it. */
  readonly checkAnswers: boolean
}

/**
 * Binds every route of the contract to its handler. Before a handler is called: the sender is known and within the rate, the project is theirs, they may do it, and
 * the request has the form that the contract says.
 */
export function bindRoutes(app: FastifyInstance, handlers: Handlers, setup: RouteSetup): void {
  for (const [name, shape] of Object.entries(contract) as [RouteName, RouteShape][]) {
    const handler = handlers[name] as unknown as Handler<RouteShape>
    app.route({
      method: shape.method,
      url: shape.path.replace(/\{(\w+)\}/g, ':$1'),
      config: { name, access: shape.access },
      handler: (request, reply) => answer(shape, handler, request, reply, setup),
    })
  }
}

async function answer(
  shape: RouteShape,
  handler: Handler<RouteShape>,
  request: FastifyRequest,
  reply: FastifyReply,
  setup: RouteSetup,
): Promise<unknown> {
  const { door, answers } = setup
  const open = shape.access === 'public' || shape.access === 'signature'
  const principal = open ? null : await door.identify(request)
  door.admit(request, principal)
  if (principal === null && !open)
    throw new RequestError('unauthenticated', 'Sign in, or send an API key.', {
      headers: { 'www-authenticate': 'Bearer' },
    })
  const project = principal === null ? null : door.project(principal, header(request, 'x-project'))
  if (principal !== null && shape.access !== 'signed_in')
    door.assertPermitted(principal, shape.access as never, project)
  const asked = {
    principal,
    project,
    params: parse(shape, 'params', request.params),
    query: parse(shape, 'query', request.query),
    body: parse(shape, 'body', request.body ?? (shape.method === 'GET' ? undefined : {})),
    match: matchOf(shape, request),
    request,
    reply,
  } as Asked<RouteShape>
  const key = shape.method === 'POST' && principal !== null ? header(request, 'idempotency-key') : null
  if (key === null) return send(shape, await handler(asked), reply, setup)
  return await once(
    shape,
    principal!,
    key,
    request,
    reply,
    answers,
    async () => await send(shape, await handler(asked), reply, setup),
  )
}

/** The same request under the same key is carried out once, and answered alike again. */
async function once(
  shape: RouteShape,
  principal: Principal,
  key: string,
  request: FastifyRequest,
  reply: FastifyReply,
  answers: AnswerBook,
  work: () => Promise<unknown>,
): Promise<unknown> {
  if (key.length > 200)
    throw new RequestError('invalid_request', 'Idempotency-Key: must have at most 200 characters.')
  const place = { tenant: principal.tenant, subject: principal.subject.id, key }
  const known = answers.begin(
    place,
    `${request.method} ${request.url}\n${JSON.stringify(request.body ?? null)}`,
  )
  if (known !== null)
    return reply
      .code(known.status)
      .headers({ ...known.headers, 'idempotent-replayed': 'true' })
      .send(known.body)
  try {
    const body = await work()
    const headers = Object.fromEntries(
      ['content-type', 'etag', 'location'].flatMap((name) => {
        const value = reply.getHeader(name)
        return typeof value === 'string' ? [[name, value]] : []
      }),
    )
    const given = { status: reply.statusCode, headers, body: typeof body === 'string' ? body : '' }
    answers.finish(place, shape.shown === 'once' ? shownBefore(request.id) : given)
    return body
  } catch (error) {
    answers.forget(place)
    throw error
  }
}

/** What is kept in the place of an answer that holds a secret. */
function shownBefore(requestId: string): KnownAnswer {
  const { problem } = problemOf(
    new RequestError(
      'idempotency_conflict',
      'This was done before. Its secret was shown then, and is not kept.',
      {
        hint: 'Look at what was made, and rotate or remove it if the secret was lost.',
        status: 409,
      },
    ),
    requestId,
  )
  return {
    status: 409,
    headers: { 'content-type': 'application/problem+json' },
    body: JSON.stringify(problem),
  }
}

function send(shape: RouteShape, given: unknown, reply: FastifyReply, { checkAnswers }: RouteSetup): unknown {
  const whole = given instanceof Answer ? given : new Answer(given)
  if (reply.sent) return reply
  reply.code(whole.status ?? shape.status ?? 200).headers(whole.headers)
  if (shape.response === null) return shape.produces === undefined ? '' : whole.body
  const written = whole.body instanceof WrittenJson ? whole.body.text : JSON.stringify(whole.body)
  if (checkAnswers) assertFits(shape, JSON.parse(String(written)))
  reply.type('application/json; charset=utf-8')
  return written
}

function assertFits({ method, path, response }: RouteShape, body: unknown): void {
  const fits = response!.safeParse(body)
  if (!fits.success)
    throw new LockstepError(
      'internal',
      `The answer to ${method} ${path} is not what the contract says: ${z.prettifyError(fits.error)}`,
    )
}

function parse(shape: RouteShape, part: 'params' | 'query' | 'body', value: unknown): unknown {
  const schema = shape[part]
  if (schema === undefined) return undefined
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  // What is named in the path and cannot be anybody's name is nowhere.
  if (part === 'params') throw new RequestError('not_found', 'There is no such thing.')
  throw misfit(part, parsed.error)
}

function matchOf({ match }: RouteShape, request: FastifyRequest): number | null {
  const said = header(request, 'if-match')
  if (match === undefined || (said === null && match === 'optional')) return null
  if (said === null)
    throw new RequestError('precondition_required', 'If-Match must name the version that is changed.')
  const version = /^"(\d{1,9})"$/.exec(said)
  if (version === null)
    throw new RequestError('invalid_request', 'If-Match: must be a version in quotes, such as "3".')
  return Number(version[1])
}

/** A header that is there once; null if it is not there. */
export function header(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}
