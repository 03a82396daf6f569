import { createHmac, timingSafeEqual } from 'node:crypto'

/** How far the clock of a sender may be off, and how old a signed request may be, in seconds. */
const tolerance = 300

/** The value of `Lockstep-Signature` for a body that is sent at a time: `t=SECONDS,v1=HMAC-SHA256 of "SECONDS.BODY"`. */
export function signBody(body: string, secret: string, now: number): string {
  const seconds = Math.floor(now / 1000)
  return `t=${seconds},v1=${mac(signedText(String(seconds), body), secret)}`
}

/** Why a signature does not hold for a body; null if it does. */
export function checkSignature(
  header: string | null,
  body: string,
  secret: string,
  now: number,
): string | null {
  if (header === null) return 'the request is not signed'
  const { seconds, given } = readSignature(header)
  if (seconds === null || given.length === 0) return 'the signature has another form than t=SECONDS,v1=HEX'
  if (!given.some((each) => sameText(each, mac(signedText(seconds, body), secret))))
    return 'the signature does not fit'
  if (Math.abs(now / 1000 - Number(seconds)) > tolerance)
    return 'the signature is too old, or of a later time'
  return null
}

/** What the signature of a body is for: the same for every spelling of the header; null if it has another form. */
export function signedBy(header: string, body: string): string | null {
  const { seconds } = readSignature(header)
  return seconds === null ? null : signedText(seconds, body)
}

function readSignature(header: string): { readonly seconds: string | null; readonly given: string[] } {
  const parts = header.split(',').map((part) => part.trim())
  const seconds = /^t=(\d{1,12})$/.exec(parts.find((part) => part.startsWith('t=')) ?? '')?.[1]
  return {
    seconds: seconds ?? null,
    given: parts.flatMap((part) => (part.startsWith('v1=') ? [part.slice(3)] : [])),
  }
}

function signedText(seconds: string, body: string): string {
  return `${seconds}.${body}`
}

/** Why a signature of PagerDuty (`v1=HEX`, several with commas) does not hold for a body; null if one does. */
export function checkPagerDuty(header: string | null, body: string, secret: string): string | null {
  if (header === null) return 'the request is not signed'
  const given = header.split(',').map((part) => part.trim())
  return given.some((each) => sameText(each, `v1=${mac(body, secret)}`)) ? null : 'the signature does not fit'
}

/** Why `Authorization` does not hold the secret, as a bearer token or as the password of a name; null if it does. */
export function checkBearer(header: string | null, secret: string): string | null {
  if (header === null) return 'the request has no Authorization'
  const [, scheme = '', value = ''] = /^(\w+) +(\S+)$/.exec(header) ?? []
  const given =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(value, 'base64')
          .toString('utf8')
          .replace(/^[^:]*:/, '')
      : scheme.toLowerCase() === 'bearer'
        ? value
        : ''
  return sameText(given, secret) ? null : 'Authorization does not hold the secret'
}

function mac(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}

/** Compares without telling by time where they differ. */
function sameText(given: string, own: string): boolean {
  const [one, two] = [Buffer.from(given), Buffer.from(own)]
  return one.length === two.length && timingSafeEqual(one, two)
}
