import type { IncomingMessage } from 'node:http'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { PracticeRefusal } from './practice-route.ts'

const mostBytes = 65_536

/** The parts of the path of a request. Throws PracticeRefusal if it is not encoded properly. */
export function pathOf(request: IncomingMessage): string[] {
  const [path = ''] = (request.url ?? '/').split('?')
  return path.split('/').slice(1).map(decode)
}

/** The key of a request; null for none. */
export function keyOf(request: IncomingMessage): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && key !== '' && key.length <= 600) return key
  throw new PracticeRefusal(400, 'a key has 1 to 600 characters')
}

/** Throws PracticeRefusal for what a browser sends: a page of another site may reach this machine, and a name of its own may lead here. */
export function refuseBrowsers(request: IncomingMessage): void {
  const { host = '', origin, 'sec-fetch-site': site } = request.headers
  if (origin !== undefined || site !== undefined || !/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) {
    throw new PracticeRefusal(400, 'the practice service is not for browsers')
  }
}

/** The body. Throws PracticeRefusal if it is too large, or no JSON object. */
export async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) throw new PracticeRefusal(400, `a body has ${mostBytes} bytes at most`)
    chunks.push(chunk)
  }
  if (size === 0) return {}
  try {
    const value = JSON.parse(Buffer.concat(chunks).toString()) as Json
    if (isJsonObject(value)) return value
  } catch {
    // Told below, like everything else that is no object.
  }
  throw new PracticeRefusal(400, 'the body must be a JSON object')
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new PracticeRefusal(400, 'the path is not encoded properly')
  }
}
