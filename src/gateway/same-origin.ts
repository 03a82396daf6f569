import type { FastifyRequest } from 'fastify'
import { RequestError } from './problem.ts'

/** Whose pages may change something in the name of who is signed in. */
export interface TrustedOrigins {
  /** The address under which people reach the gateway, where it is not the one of the request. */
  readonly publicUrl?: string | undefined
  /** Other sites that are trusted as the console is. */
  readonly origins?: readonly string[] | undefined
}

/** Throws `forbidden` if a browser says that another site's page sent the request. A sender that is no browser says nothing. */
export function assertSameOrigin(request: FastifyRequest, trusted: TrustedOrigins): void {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  if (origin !== undefined) {
    if (isOwn(origin, request, trusted)) return
  } else if (site === undefined || site === 'same-origin' || site === 'none') return
  throw new RequestError('forbidden', 'Another site sent this request.', {
    hint: 'Open the console at its own address, or send an API key.',
  })
}

/** The origin of the console as the browser of this request names it. */
export function originOf(request: FastifyRequest, { publicUrl }: TrustedOrigins): string {
  const address = publicUrl ?? `${request.protocol}://${request.host}`
  if (URL.canParse(address)) return new URL(address).origin
  throw new RequestError('invalid_request', 'Host: is no name of a host.')
}

function isOwn(
  origin: string,
  request: FastifyRequest,
  { publicUrl, origins = [] }: TrustedOrigins,
): boolean {
  if (origins.includes(origin)) return true
  if (publicUrl !== undefined && new URL(publicUrl).origin === origin) return true
  // Before a proxy that ends TLS the scheme differs, the host does not.
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  return URL.canParse(`${protocol}//${request.host}`) && new URL(`${protocol}//${request.host}`).host === host
}
