import type { z } from 'zod'
import type { Contract, RouteName } from '../api/contract.ts'
import type { RouteShape } from '../api/route.ts'
import { ProblemError, readProblem } from './problem-error.ts'

type BySpelling = {
  [Name in RouteName as `${Contract[Name]['method']} ${Contract[Name]['path']}`]: Contract[Name]
}

/** Every route as it is spelled in a request: `GET /runs/{id}`. */
export type RouteSpelling = keyof BySpelling

type ShapeOf<Spelling extends RouteSpelling> = BySpelling[Spelling]

type Part<Shape, Name extends 'params' | 'query' | 'body'> =
  Shape extends Readonly<Record<Name, z.ZodType>>
    ? object extends z.input<Shape[Name]>
      ? { readonly [Key in Name]?: z.input<Shape[Name]> }
      : { readonly [Key in Name]: z.input<Shape[Name]> }
    : object

interface Common {
  /** The version that is changed. */
  readonly match?: number
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

// Route by route: the parts of all routes put together would be as many types as there are combinations.
type RequestFor<Shape> = Shape extends RouteShape
  ? Common & Part<Shape, 'params'> & Part<Shape, 'query'> & Part<Shape, 'body'>
  : never

/** What is sent with a request. */
export type RequestOf<Spelling extends RouteSpelling> = RequestFor<ShapeOf<Spelling>>

/** What is answered: the body, nothing, or the whole response of what is no JSON. */
export type AnswerOf<Spelling extends RouteSpelling> =
  ShapeOf<Spelling> extends { readonly response: infer Response extends z.ZodType }
    ? z.output<Response>
    : ShapeOf<Spelling> extends { readonly produces: readonly string[] }
      ? Response
      : undefined

/** How a gateway is reached. */
export interface ClientOptions {
  /** The address of the gateway; in a browser that of the page if it is not said. */
  readonly url?: string
  /** An API key. */
  readonly key?: string
  /** The token that changes need which are sent with the cookie of a session. */
  readonly csrfToken?: () => string | null
  /** The project that requests are about. */
  readonly project?: () => string | null
  readonly fetch?: typeof globalThis.fetch
}

/** Sends requests of the contract; throws `ProblemError` for what is refused. */
export interface Client {
  <Spelling extends RouteSpelling>(route: Spelling, ...given: Given<Spelling>): Promise<AnswerOf<Spelling>>
}

/** What follows the name of a route: what it needs, or nothing where it needs nothing. */
type Given<Spelling extends RouteSpelling> =
  object extends RequestOf<Spelling> ? [request?: RequestOf<Spelling>] : [request: RequestOf<Spelling>]

interface AnyRequest {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly match?: number
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** A client of a gateway. Its types are those of the contract; at run time it knows only how a request is put together. */
export function createClient(options: ClientOptions = {}): Client {
  const send = options.fetch ?? globalThis.fetch
  return (async (route: string, request: AnyRequest = {}) => {
    const [method, path] = route.split(' ') as [string, string]
    const response = await send(`${(options.url ?? '').replace(/\/$/, '')}${addressOf(path, request)}`, {
      method,
      headers: headersOf(method, request, options),
      credentials: 'same-origin',
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    })
    if (!response.ok) throw new ProblemError(await readProblem(response))
    if (response.status === 204) return undefined
    const json = response.headers.get('content-type')?.startsWith('application/json')
    return json === true ? ((await response.json()) as unknown) : response
  }) as Client
}

/** The path with its parameters put in, and the query behind it. */
export function addressOf(path: string, { params = {}, query = {} }: AnyRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const pairs = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  if (pairs.length === 0) return filled
  return `${filled}?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

function headersOf(method: string, request: AnyRequest, options: ClientOptions): Record<string, string> {
  const csrf = method === 'GET' ? null : (options.csrfToken?.() ?? null)
  const project = options.project?.() ?? null
  return {
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    ...(csrf === null ? {} : { 'x-csrf-token': csrf }),
    ...(project === null ? {} : { 'x-project': project }),
    ...(request.match === undefined ? {} : { 'if-match': `"${request.match}"` }),
    ...(request.idempotencyKey === undefined ? {} : { 'idempotency-key': request.idempotencyKey }),
  }
}
