/**
 * Serves a gateway over HTTP.
 *
 * Owns: the listener, and who a caller is.
 *
 * Invariants
 * H1  Every request proves its caller by a bearer token before anything of it is read.
 * H2  A page in a browser cannot be the caller: requests under a foreign host name or origin are refused.
 * H3  A request that is cut off cancels what it asked for.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Callers } from './callers.ts'
import type { Gateway } from './gateway.ts'

/** Where a gateway listens. */
export interface HttpOptions {
  readonly port: number
  readonly host: string
  readonly callers: Callers
}

/** A gateway that listens. */
export interface HttpService {
  readonly url: string
  close(): Promise<void>
}

const loopback = ['127.0.0.1', '::1', 'localhost']

/** Says whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return loopback.includes(host)
}

/** Listens under `/mcp`. Throws `cannot_listen` if the port cannot be had. */
export async function serveHttp(gateway: Gateway, options: HttpOptions): Promise<HttpService> {
  const handler = createMcpHandler(() => gateway.createServer(), { onerror: () => undefined })
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, options, handler.fetch)
      .then((response) => send(response, outgoing))
      // The client went away, or sent what cannot be answered; there is nobody to tell.
      .catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(options, cause)))
    server.listen(options.port, options.host, resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}/mcp`,
    async close() {
      await handler.close()
      const closed = new Promise((resolve) => {
        server.close(resolve)
      })
      server.closeAllConnections()
      await closed
    },
  }
}

function cannotListen({ host, port }: HttpOptions, cause: NodeJS.ErrnoException): LockstepError {
  const where = `${host}:${port}`
  switch (cause.code) {
    case 'EADDRINUSE':
      return new LockstepError('cannot_listen', `Something else listens on ${where} already.`, {
        hint: 'stop it, or choose another port; 0 takes any that is free',
        cause,
      })
    case 'EACCES':
      return new LockstepError('cannot_listen', `There is no permission to listen on ${where}.`, {
        hint: 'choose a port above 1023',
        cause,
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new LockstepError('cannot_listen', `This machine has no address ${host}.`, {
        hint: '127.0.0.1 lets this machine in, 0.0.0.0 every one that reaches it',
        cause,
      })
    default:
      return new LockstepError('cannot_listen', `Cannot listen on ${where}: ${cause.message}.`, { cause })
  }
}

type Handle = ReturnType<typeof createMcpHandler>['fetch']

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: HttpOptions,
  handle: Handle,
): Promise<Response> {
  const request = toRequest(incoming, outgoing)
  const rejected =
    (isLoopback(options.host)
      ? hostHeaderValidationResponse(request, localhostAllowedHostnames())
      : undefined) ?? originValidationResponse(request, localhostAllowedOrigins())
  if (rejected !== undefined) return rejected
  const name = options.callers.identify(incoming.headers.authorization)
  if (name === null) {
    const headers = { 'www-authenticate': 'Bearer', 'content-type': 'text/plain' }
    return new Response('This gateway wants a bearer token.\n', { status: 401, headers })
  }
  if (new URL(request.url).pathname !== '/mcp') return new Response('There is only /mcp.\n', { status: 404 })
  // The token has done its work; nothing behind this line needs it.
  return await handle(request, { authInfo: { token: '', clientId: name, scopes: [] } })
}

function toRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const gone = new AbortController()
  // The socket outlives the request where a connection is kept, so it is the response that tells.
  outgoing.once('close', () => outgoing.writableFinished || gone.abort())
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  const method = incoming.method ?? 'GET'
  const bodiless = method === 'GET' || method === 'HEAD'
  const body = bodiless ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>)
  const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? 'localhost'}`)
  // A body that is a stream has to be announced so, which the types of the platform do not know.
  const streamed: { duplex: 'half' } = { duplex: 'half' }
  return new Request(url.href, { method, headers, signal: gone.signal, body, ...streamed })
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) outgoing.end()
  else await pipeline(Readable.fromWeb(response.body as never), outgoing)
}
