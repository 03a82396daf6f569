import { ToolFailure } from '../../tool/tool-failure.ts'

/** A request, ready to be sent. */
export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: string | null
}

/** What came back, read up to a size; `bytes` is longer than that size where there was more. */
export interface HttpResponse {
  readonly status: number
  readonly contentType: string
  readonly bytes: Uint8Array
}

const mostRedirects = 5

/** Errors before anything was sent. */
const unsent: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/**
 * Sends a request and reads the answer. A redirect is followed only for a request that reads, and only to the same origin, so that
 * neither headers nor the reach of the tool are carried elsewhere. Throws ToolFailure where nothing was sent.
 */
export async function sendRequest(
  request: HttpRequest,
  most: number,
  signal: AbortSignal,
): Promise<HttpResponse> {
  let { url } = request
  for (let hops = 0; ; hops++) {
    const response = await send({ ...request, url }, signal)
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || response.status === 304 || location === null) {
      return {
        status: response.status,
        contentType: response.headers.get('content-type') ?? '',
        bytes: await readBody(response, most),
      }
    }
    await response.body?.cancel()
    const next = URL.canParse(location, url.href) ? new URL(location, url) : null
    if (next?.origin !== url.origin) {
      throw redirected(request, `${response.status}: a redirect to another origin, which is not followed`)
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw redirected(request, `${response.status}: a redirect, which is not followed for ${request.method}`)
    }
    if (hops >= mostRedirects) throw redirected(request, `more than ${mostRedirects} redirects`)
    url = next
  }
}

async function send({ method, url, headers, body }: HttpRequest, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { method, headers, body, redirect: 'manual', signal })
  } catch (error) {
    const { cause } = error as { cause?: { code?: unknown; message?: unknown } }
    const message = `${url.origin} cannot be reached: ${String(cause?.code ?? cause?.message ?? (error as Error).message)}`
    if (unsent.has(cause?.code) || cause?.message === 'bad port') throw new ToolFailure(message)
    throw new Error(message, { cause: error })
  }
}

async function readBody(response: Response, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (response.body !== null) {
    for await (const chunk of response.body) {
      chunks.push(chunk as Uint8Array)
      size += (chunk as Uint8Array).length
      // Leaving the loop gives the rest up.
      if (size > most) break
    }
  }
  return Buffer.concat(chunks)
}

function redirected(request: HttpRequest, what: string): Error {
  return new Error(`${request.method} ${request.url.origin} was answered with ${what}`)
}
