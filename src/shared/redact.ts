/**
 * Takes secrets out of what people are shown, by their shape and by the name they go under.
 *
 * Invariants
 * R1  What has the shape of a vendor's token, a private key, an authorization header or a URL with credentials is taken out wherever it stands,
 *     also inside JSON that is inside a text.
 * R2  What goes under the name of a secret is taken out, whatever it looks like.
 * R3  Nothing is taken out for being random: commit ids, digests and run ids stay.
 * R4  Redacting twice is redacting once, and takes time in proportion to the text.
 * R5  What stands in the place of a secret already stays, and says which one it was.
 */
import { isJsonObject, type Json, type JsonObject } from './json.ts'

/** What stands in the place of a secret. */
export const redacted = '[redacted]'

const key = '[A-Za-z0-9_-]'

/** Tokens that say by their beginning what they are (R1). */
const shapes: readonly string[] = [
  `gh[pousr]_${key}{20,}`,
  `github_pat_${key}{20,}`,
  `gl(?:pat|dt|rt|ptt|ft|soat)-${key}{16,}`,
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}',
  `xox[abeoprs](?:\\.xox[bp])?-${key}{8,}`,
  `xapp-${key}{8,}`,
  `sk-${key}{16,}`,
  `xai-${key}{20,}`,
  `gsk_${key}{20,}`,
  `(?:sk|rk|pk)_(?:live|test)_${key}{10,}`,
  `whsec_${key}{16,}`,
  `AIza${key}{30,}`,
  `ya29\\.${key}{16,}`,
  `GOCSPX-${key}{16,}`,
  `npm_${key}{30,}`,
  `pypi-${key}{16,}`,
  `do[opr]_v1_[a-f0-9]{32,}`,
  `hf_${key}{20,}`,
  `SG\\.${key}{16,}\\.${key}{16,}`,
  `shp(?:at|ca|pa|ss)_${key}{20,}`,
  `hv[bs]\\.${key}{20,}`,
  `dapi[a-f0-9]{32}`,
  `ATATT3${key}{20,}`,
  `lin_api_${key}{20,}`,
  `sntry[su]_${key}{20,}`,
  `glc_${key}{20,}`,
  `SK[0-9a-f]{32}`,
  `[0-9]{8,10}:AA${key}{32,}`,
  // Our own: keys, sessions and one-time links.
  `lk_[a-z2-7]{8}_${key}{16,}`,
  `(?:lnk|ses)_[a-z2-7]{16}\\.${key}{16,}`,
  // JSON Web Tokens: two or three parts, the first of which is an object.
  `eyJ${key}{8,}\\.eyJ${key}{8,}(?:\\.${key}*)?`,
]

/** At the beginning of a word; the letter of an escape such as `\\n` is no part of one. */
const tokens = new RegExp(`(?:(?<![A-Za-z0-9])|(?<=\\\\[bfnrt]))(?:${shapes.join('|')})+`, 'g')
const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g
/** Looked for from what comes before it, so that a long word is not tried from each of its letters. */
const credentials = /(?<=[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@"'<>\\]{1,2000}@/gi
const scheme =
  /\b(Bearer|Basic|Digest|Negotiate|ApiKey|Token)(\s{1,4})(?=[^\s]*[0-9=._/+-])[A-Za-z0-9._~+/=-]{8,}/gi
const webhook =
  /(hooks\.slack\.com\/(?:services|workflows)\/|discord(?:app)?\.com\/api\/webhooks\/)[^\s"'<>\\]+/gi
/** What stands between a name and its value. */
const sign = /\s{0,4}(?:=>|[:=])\s{0,4}/g
const nameCharacter = /[A-Za-z0-9_.-]/
const longestName = 61
const mostSlashes = 8
const bareValue = /(?:\[redacted\]|[^\s,;&"'\\{}[\]()<>])+/y
/** The value of a header goes on to the end of its line. */
const headerValue = /(?:\[redacted\]|[^\r\n"'\\{}[\]<>])+/y
/**
 * What was masked when it was used: `[secret]`, `Bearer [secret env:SHOP_TOKEN]`. And what only says which secret belongs there: the handle, the placeholder and the
 * reference of a playbook.
 */
const masked = new RegExp(
  `^(?:${[
    '(?:[A-Za-z]{1,12} )?\\[secret(?: (?:env|file|exec|store):[^\\]\\r\\n]{1,200})?\\]',
    'secret://[A-Za-z_][A-Za-z0-9_]{0,127}',
    '\\{ {0,4}secrets\\.[A-Za-z_][A-Za-z0-9_]{0,127} {0,4}\\}',
    '(?:env|store):[A-Za-z_][A-Za-z0-9_.-]{0,127}',
    'file:/[^\\r\\n"\']{1,200}',
    // The id of an API key, and what may be permitted with keys: `apikey:key_…`, `apikey:write`.
    'key_[a-z2-7]{16}',
    'read|write',
  ].join('|')})$`,
)
/** A handle is no name with a value behind it. */
const handle = /secret:\/\/[A-Za-z_][A-Za-z0-9_]{0,127}(?![^\s,;&"'\\{}[\]()<>])/y
const openingQuote = /(\\{0,8})(["'])/y

/** The text without the secrets that can be told by their shape or their name. */
export function redactText(text: string): string {
  let shown = text
  // What was taken out can lay bare where the next one begins.
  for (let pass = 0; pass < mostPasses; pass++) {
    const before = shown
    shown = redactOnce(before)
    if (shown === before) break
  }
  return shown
}

const mostPasses = 8

function redactOnce(text: string): string {
  const plain = text
    .replace(privateKey, redacted)
    .replace(webhook, `$1${redacted}`)
    .replace(credentials, `${redacted}@`)
    .replace(scheme, `$1$2${redacted}`)
    .replace(tokens, redacted)
  return redactNamed(plain)
}

/** Takes out what stands behind the name of a secret (R2). */
function redactNamed(text: string): string {
  let result = ''
  let done = 0
  sign.lastIndex = 0
  for (let found = sign.exec(text); found !== null; found = sign.exec(text)) {
    const from = sign.lastIndex
    const begin = nameBefore(text, found.index, done)
    if (begin === null) continue
    const name = text.slice(begin.start, begin.end)
    if (!isSecretName(name)) continue
    handle.lastIndex = begin.start
    if (handle.test(text)) continue
    const { start, end } = valueAt(text, from, /authorization|cookie/i.test(name))
    if (end === start || masked.test(text.slice(start, end))) continue
    result += text.slice(done, start) + redacted
    done = end
    sign.lastIndex = end
  }
  return result + text.slice(done)
}

/**
 * Where the name begins and ends that stands before a place, with or without quotes, also where the quotes are escaped because they stand inside JSON; null if there is none. Nothing
 * before `floor` belongs to it.
 */
function nameBefore(text: string, place: number, floor: number): { start: number; end: number } | null {
  let end = place
  let quote = ''
  if (text[place - 1] === '"' || text[place - 1] === "'") {
    end = place - 1
    while (end > floor && text[end - 1] === '\\') end--
    quote = text.slice(end, place)
    if (quote.length > mostSlashes + 1) return null
  }
  let start = end
  const least = Math.max(floor, end - longestName)
  while (start > least && nameCharacter.test(text[start - 1]!)) start--
  // Without quotes a name begins with its first letter; with them it is all that stands between them.
  if (quote === '') while (start < end && !/[A-Za-z]/.test(text[start]!)) start++
  else if (start - quote.length < floor || !text.startsWith(quote, start - quote.length)) return null
  return end - start >= 2 && /[A-Za-z]/.test(text[start]!) ? { start, end } : null
}

/** Where a value begins and ends, without its quotes. */
function valueAt(text: string, from: number, header: boolean): { start: number; end: number } {
  openingQuote.lastIndex = from
  const quote = openingQuote.exec(text)
  if (quote !== null) {
    const start = openingQuote.lastIndex
    return { start, end: closingQuote(text, start, quote[1]!.length, quote[2]!) }
  }
  const bare = header ? headerValue : bareValue
  bare.lastIndex = from
  return { start: from, end: from + (bare.exec(text)?.[0].length ?? 0) }
}

/** The place of the quote that is escaped as often as the opening one, or of one that ends the text around it, or the end. */
function closingQuote(text: string, start: number, escapes: number, quote: string): number {
  for (let at = start; at < text.length; at++) {
    let slashes = 0
    while (text[at] === '\\') {
      slashes++
      at++
    }
    if (text[at] !== quote) continue
    if (slashes <= escapes) return at - slashes
  }
  return text.length
}

/** The value without secrets, in the names of members too. */
export function redactJson(value: Json): Json {
  return redactValue(value, false)
}

/** The object without secrets. */
export function redactObject(value: JsonObject): JsonObject {
  return redactJson(value) as JsonObject
}

function redactValue(value: Json, secret: boolean): Json {
  if (typeof value === 'string')
    return secret && value !== '' && !masked.test(value) ? redacted : redactText(value)
  if (typeof value === 'number') return secret ? redacted : value
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => redactValue(item, secret))
  if (!isJsonObject(value)) return value
  const copy: Record<string, Json> = {}
  for (const [name, item] of Object.entries(value)) {
    const shown = redactText(name)
    const redactedItem = redactValue(item, secret || isSecretName(name))
    Object.defineProperty(copy, shown, {
      value: redactedItem,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return copy
}

const secretWords: ReadonlySet<string> = new Set([
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'pwd',
  'secret',
  'secrets',
  'credential',
  'credentials',
  'authorization',
  'cookie',
  'apikey',
  'token',
])
const keyWords: ReadonlySet<string> = new Set([
  'api',
  'access',
  'account',
  'auth',
  'encryption',
  'private',
  'signing',
  'master',
  'shared',
])
/** Names that end so speak about a secret and are none: `token_type`, `secret_name`. */
const harmlessEnds: ReadonlySet<string> = new Set([
  'name',
  'id',
  'ids',
  'count',
  'counts',
  'type',
  'length',
  'limit',
  'policy',
  'expiry',
  'expires',
  'at',
  'in',
  'out',
  'used',
  'usage',
  'reference',
  'ref',
  'required',
])

/** Says whether what goes under the name is a secret: `password`, `apiKey`, `X-Auth-Token`, not `author` or `tokens_in`. */
export function isSecretName(name: string): boolean {
  if (name.length > 200 || masked.test(name)) return false
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  if (harmlessEnds.has(words.at(-1) ?? '')) return false
  if (words.some((word) => secretWords.has(word))) return true
  return words.some(
    (word, index) => (word === 'key' || word === 'keys') && keyWords.has(words[index - 1] ?? ''),
  )
}
