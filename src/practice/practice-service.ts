/**
 * A service to practise on: an order desk and a small cluster, over real HTTP on this machine.
 *
 * Owns: the port, and the requests in flight.
 * Talks to: its file, where everything it did is kept before it answers.
 *
 * Invariants
 * H1  Every answer says that it is practice: in a header and in its body.
 * H2  What was done under a key is done once: the same request under it gets the same answer and has no further effect, another one is
 *     refused with 409. The deed, its entry among the effects and the answer are one commit, made before the answer is sent.
 * H3  `GET` changes nothing.
 * H4  It listens on 127.0.0.1 only, and answers no web page: whatever a browser sends on behalf of another site is refused.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { canonicalJson } from '../shared/canonical-json.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { clusterRoutes } from './cluster-routes.ts'
import { deskRoutes } from './desk-routes.ts'
import { checkFault, readFaults, type PracticeFault } from './practice-fault.ts'
import { PracticeRefusal, type PracticeRequest, type PracticeRoute } from './practice-route.ts'
import { PracticeStore } from './practice-store.ts'
import { keyOf, pathOf, readBody, refuseBrowsers } from './read-request.ts'

const routes: readonly PracticeRoute[] = [...clusterRoutes, ...deskRoutes]

/** The names of the tools that the service has paths for. */
export const practiceToolNames: readonly string[] = routes.map(({ tool }) => tool)

const about =
  'The practice service of Lockstep. Nothing here is real: an order desk and a small cluster, for trying runbooks and tests.'

/** How a practice service is started. */
export interface PracticeOptions {
  /** The file with its memory. */
  readonly file: string
  /** 0 takes any port that is free. */
  readonly port?: number
  /** Faults for the calls of this process, as in `PRACTICE_FAULTS`. */
  readonly faults?: string
}

type Found = { readonly route: PracticeRoute; readonly names: Record<string, string> }
type Reply = { readonly status: number; readonly body: JsonObject; readonly replayed?: boolean }

/** A practice service that listens. */
export class PracticeService {
  readonly #store: PracticeStore
  readonly #server: Server
  readonly #faults: PracticeFault[]
  /** The keys of requests that are being carried out, with how many there are of each. */
  readonly #inFlight = new Map<string, number>()
  readonly #pauses = new Set<() => void>()
  #closed = false

  private constructor(store: PracticeStore, faults: PracticeFault[]) {
    this.#store = store
    this.#faults = faults
    this.#server = createServer((request, response) => void this.#handle(request, response))
  }

  /** Starts it. Throws `practice_unavailable`, `cannot_listen`, or `invalid_value` for faults that are none. */
  static async start({ file, port = 0, faults = '' }: PracticeOptions): Promise<PracticeService> {
    const own = readFaults(faults, practiceToolNames)
    const store = new PracticeStore(file)
    const service = new PracticeService(store, own)
    try {
      await service.#listen(port)
    } catch (error) {
      store.close()
      throw new LockstepError('cannot_listen', `The practice service cannot listen: ${messageOf(error)}.`, {
        hint: 'choose another port; 0 takes any that is free',
        cause: error,
      })
    }
    return service
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Lets the process end although the service listens. */
  unref(): void {
    this.#server.unref()
  }

  /** Stops it. What waits because of a fault is given up, as it would be if the process died. */
  async close(): Promise<void> {
    this.#closed = true
    for (const end of this.#pauses) end()
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
    this.#store.close()
  }

  #listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const reply = await this.#reply(request)
      if (reply === null || this.#closed) request.socket.destroy()
      else send(response, reply)
    } catch (error) {
      if (this.#closed) request.socket.destroy()
      else send(response, failure(error))
    }
  }

  /** The answer; null where the connection is cut. */
  async #reply(request: IncomingMessage): Promise<Reply | null> {
    refuseBrowsers(request)
    const method = request.method ?? 'GET'
    const parts = pathOf(request)
    const desk = this.#desk(method, parts, request)
    if (desk !== null) return await desk
    const { route, names } = find(method, parts)
    const body = method === 'GET' ? {} : await readBody(request)
    return await this.#serve(route, { names, body }, keyOf(request))
  }

  /** Carries a request out, with whatever is to go wrong with it. */
  async #serve(route: PracticeRoute, request: PracticeRequest, key: string | null): Promise<Reply | null> {
    const fault = this.#takeFault(route.tool)
    if (fault?.kind === 'fail') return { status: 503, body: { error: 'out of order, on purpose' } }
    if (key !== null) this.#inFlight.set(key, (this.#inFlight.get(key) ?? 0) + 1)
    let reply: Reply
    try {
      if (fault?.kind === 'delay') await this.#pause(fault.ms)
      reply =
        route.method === 'GET'
          ? { status: 200, body: route.read(this.#store, request) }
          : this.#store.change(() => this.#write(route, request, key))
    } finally {
      const others = key === null ? 0 : this.#inFlight.get(key)! - 1
      if (key !== null && others > 0) this.#inFlight.set(key, others)
      else if (key !== null) this.#inFlight.delete(key)
    }
    if (fault?.kind === 'cut') return null
    if (fault?.kind === 'late') await this.#pause(fault.ms)
    return reply
  }

  /** Does what is asked for once (H2). */
  #write(
    route: Extract<PracticeRoute, { method: 'POST' }>,
    request: PracticeRequest,
    key: string | null,
  ): Reply {
    const written = canonicalJson({ path: route.path, names: request.names, body: request.body })
    const before = key === null ? null : this.#store.findAnswer(key)
    if (before !== null && before.request !== written) {
      throw new PracticeRefusal(409, `the key '${key}' belongs to another request`)
    }
    if (before !== null) return { status: 200, body: before.body, replayed: true }
    const { target, changed, body } = route.write(this.#store, request)
    this.#store.addEffect({ tool: route.tool, target, key, changed })
    if (key !== null) this.#store.keepAnswer(key, { request: written, body })
    return { status: 200, body }
  }

  /** What is asked about the service itself; null if it is something else. */
  #desk(method: string, parts: readonly string[], request: IncomingMessage): Promise<Reply> | Reply | null {
    const [first, second, ...rest] = parts
    if (rest.length > 0) return null
    switch (`${method} /${second === undefined ? first : `${first}/*`}`) {
      case 'GET /':
        return { status: 200, body: { about, paths: routes.map((each) => `${each.method} ${each.path}`) } }
      case 'GET /state':
        return { status: 200, body: readPracticeState(this.#store) }
      case 'GET /effects':
        return { status: 200, body: { effects: this.#store.effects() as unknown as Json } }
      case 'GET /keys/*':
        return this.#lookUp(second!)
      case 'GET /faults':
        return { status: 200, body: { faults: this.#store.faults() as unknown as Json } }
      case 'POST /faults':
        return this.#addFault(request)
      case 'DELETE /faults':
        this.#store.clearFaults()
        return { status: 200, body: { faults: [] } }
      case 'POST /reset':
        this.#store.reset()
        return { status: 200, body: { reset: true } }
      default:
        return null
    }
  }

  #lookUp(key: string): Reply {
    const kept = this.#store.findAnswer(key)
    if (kept !== null) {
      return {
        status: 200,
        body: { state: 'applied', key, at: kept.at, answer: { practice: true, ...kept.body } },
      }
    }
    return this.#inFlight.has(key)
      ? { status: 200, body: { state: 'in_progress', key } }
      : { status: 404, body: { state: 'none', key, error: 'nothing was done under this key' } }
  }

  async #addFault(request: IncomingMessage): Promise<Reply> {
    const body = await readBody(request)
    const fault = checkFault(body, practiceToolNames)
    const { times = 1 } = body
    if (!Number.isInteger(times) || (times as number) < 1 || (times as number) > 999) {
      throw new PracticeRefusal(422, `'times' must be a whole number from 1 to 999`)
    }
    this.#store.change(() => {
      for (let time = 0; time < (times as number); time++) this.#store.addFault(fault)
    })
    return { status: 200, body: { faults: this.#store.faults() as unknown as Json } }
  }

  #takeFault(tool: string): PracticeFault | null {
    const own = this.#faults.findIndex((fault) => fault.tool === tool)
    return own === -1 ? this.#store.takeFault(tool) : this.#faults.splice(own, 1)[0]!
  }

  /** Waits. Throws if the service is closed meanwhile. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        this.#pauses.delete(end)
        if (this.#closed) reject(new Error('the service was closed'))
        else resolve()
      }
      const timer = setTimeout(end, ms)
      timer.unref()
      this.#pauses.add(end)
    })
  }
}

/** Everything there is, for people. */
export function readPracticeState(store: PracticeStore): JsonObject {
  const read = (path: string) => {
    const { route, names } = find('GET', [path])
    return (route as Extract<PracticeRoute, { method: 'GET' }>).read(store, { names, body: {} })
  }
  return {
    ...read('nodes'),
    ...read('services'),
    orders: store.list('order'),
    refunds: store.list('refund'),
    messages: store.list('message'),
    effects: store.effects() as unknown as Json,
    faults: store.faults() as unknown as Json,
  }
}

/** The route of a path. Throws PracticeRefusal if there is none. */
function find(method: string, parts: readonly string[]): Found {
  let other = false
  for (const route of routes) {
    const pattern = route.path.split('/').slice(1)
    if (pattern.length !== parts.length) continue
    const names: Record<string, string> = {}
    const fits = pattern.every((part, index) => {
      if (!part.startsWith('{')) return part === parts[index]
      names[part.slice(1, -1)] = parts[index]!
      return parts[index] !== ''
    })
    if (fits && route.method === method) return { route, names }
    other ||= fits
  }
  throw new PracticeRefusal(404, other ? `this path does not take ${method}` : 'there is no such path')
}

function failure(error: unknown): Reply {
  const refused = LockstepError.isInstance(error) && error.code === 'invalid_value'
  const status = error instanceof PracticeRefusal ? error.status : refused ? 422 : 500
  return { status, body: { error: messageOf(error) } }
}

function send(response: ServerResponse, { status, body, replayed = false }: Reply): void {
  if (response.destroyed) return
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-lockstep-practice': 'true',
    ...(replayed ? { 'idempotent-replayed': 'true' } : {}),
  })
  response.end(JSON.stringify({ practice: true, ...body }))
}
