import { lookup } from 'node:dns'
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { messageOf } from '../shared/message-of.ts'
import { isPublicAddress } from './public-address.ts'

/** What may be reached, and how long it may take. */
export interface PostLimits {
  /** Whether addresses of this machine and of private networks may be reached. */
  readonly allowPrivate: boolean
  readonly timeoutMs: number
}

/** What came of sending: the status of an answer, or why there is none. */
export interface Posted {
  readonly status: number | null
  readonly error: string | null
}

/**
 * Sends a body to an address; never rejects. The address that is connected to is the one that was judged; no redirect is followed, and what comes back is not kept.
 */
export async function postBody(
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  { allowPrivate, timeoutMs }: PostLimits,
): Promise<Posted> {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return failed('it is no address')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return failed(notPublic)
  const request = url.protocol === 'https:' ? overHttps : overHttp
  const signal = AbortSignal.timeout(timeoutMs)
  return await new Promise((resolve) => {
    const sent = request(
      url,
      {
        method: 'POST',
        signal,
        agent: false,
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        ...(allowPrivate ? {} : { lookup: lookupPublic }),
      },
      (answer) => {
        const { statusCode = 0 } = answer
        resolve({
          status: statusCode,
          error: statusCode >= 200 && statusCode < 300 ? null : `the receiver answered ${statusCode}`,
        })
        // What it says is of no interest, and may be endless.
        answer.destroy()
      },
    )
    sent.on('error', (error) =>
      resolve(failed(signal.aborted ? `no answer within ${timeoutMs / 1000} seconds` : messageOf(error))),
    )
    sent.end(body)
  })
}

const notPublic =
  'the address is one of this machine or of a private network, which webhooks.allow_private does not allow'

/** Finds addresses as usual, and refuses a name as soon as one of them is not public. */
const lookupPublic: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0)
    const [first] = addresses
    if (first === undefined || addresses.some(({ address }) => !isPublicAddress(address)))
      return callback(new Error(notPublic), '', 0)
    if (options.all === true) return callback(null, addresses)
    return callback(null, first.address, first.family)
  })
}

function failed(error: string): Posted {
  return { status: null, error }
}
