import { chainVersion, saltedPayload, writeLink, type ChainLink } from '../journal/chain.ts'
import { exportVersion, type ExportManifest } from '../journal/chain-export.ts'
import type { JournalEntry } from '../journal/journal.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import type { Finding } from './verdict.ts'

/** An entry of an export. The texts are those that were hashed; the payload is read when somebody asks. */
export interface ReadEntry {
  readonly link: ChainLink
  readonly linkText: string
  /** Null for a record that was kept without a chain. */
  readonly hash: string | null
  /** What the digest of the payload is made of; null where the payload is not in the export. */
  readonly salted: string | null
  readonly data: () => JsonObject | null
  /** What a withheld payload says for people; nothing proves it. */
  readonly view: JsonObject | null
  /** The same in canonical form, for where the line was spelled in another way than it was hashed. */
  readonly canonical: () => { readonly linkText: string; readonly salted: string | null }
}

/** An export, line by line. */
export interface ReadExport {
  readonly manifest: ExportManifest | null
  readonly chains: ReadonlyMap<string, readonly ReadEntry[]>
  readonly findings: readonly Finding[]
}

const digest = 'sha256:[0-9a-f]{64}'
const text = '"(?:[^"\\\\]|\\\\.)*"'
/** A line as Lockstep writes it: what was hashed stands in it letter by letter. Any other spelling is read the slow way. */
const sealedLine = new RegExp(
  `^\\{"link":(\\{"at":(-?[0-9.e+-]+),"payload":"(${digest})","prev":(null|"${digest}"),"principal":(${text}),"run":(${text}),"seq":(\\d+),"tenant":(${text}),"type":(${text}),"v":(\\d+)\\}),"hash":"(${digest})","mac":"[0-9a-f]*","key":"[0-9a-z]*"(?:,"salt":"([0-9a-f]{32})","data":(?=\\{))?`,
)

/** Reads the lines of an export. What cannot be read is a finding. */
export function readExport(lines: Iterable<string>): ReadExport {
  const findings: Finding[] = []
  const chains = new Map<string, ReadEntry[]>()
  let manifest: ExportManifest | null = null
  let number = 0
  for (const line of lines) {
    number++
    if (line.trim() === '') continue
    try {
      if (manifest === null) manifest = readManifest(line)
      else {
        const entry = readLine(line)
        const chain = chains.get(entry.link.run)
        if (chain === undefined) chains.set(entry.link.run, [entry])
        else chain.push(entry)
      }
    } catch (error) {
      findings.push(unreadable(`line ${number}: ${messageOf(error)}`))
      if (manifest === null) break
    }
  }
  if (manifest === null && findings.length === 0) findings.push(unreadable('the export is empty'))
  return { manifest, chains, findings }
}

function readManifest(line: string): ExportManifest {
  const manifest = JSON.parse(line) as Partial<ExportManifest>
  const { lockstep, v, chains, period, documents, publicKeys, checkpoints } = manifest
  if (lockstep !== 'export') throw new Error('this is no export of Lockstep')
  if (v !== exportVersion) throw new Error(`version ${String(v)} of the format is not known here`)
  const objects = [documents, publicKeys].every((each) => typeof each === 'object' && each !== null)
  const times = period === undefined || (Number.isFinite(period?.from) && Number.isFinite(period?.to))
  if (!Array.isArray(chains) || !Array.isArray(checkpoints) || !objects || !times)
    throw new Error('the manifest is not whole')
  return manifest as ExportManifest
}

function readLine(line: string): ReadEntry {
  const found = sealedLine.exec(line)
  if (found === null || !line.endsWith('}')) return readAnyLine(line)
  const [head, linkText, at, payload, prev, principal, run, seq, tenant, type, v, hash, salt] =
    found as unknown as [head: string, ...parts: string[], salt: string | undefined]
  const link = checkLink({
    v: Number(v) as typeof chainVersion,
    run: unquote(run!),
    seq: Number(seq),
    at: Number(at),
    tenant: unquote(tenant!),
    principal: unquote(principal!),
    type: unquote(type!),
    payload: payload!,
    prev: prev === 'null' ? null : prev!.slice(1, -1),
  })
  const rest = line.slice(head.length, -1)
  if (salt === undefined && rest !== '') return readAnyLine(line)
  const canonical = () => readAnyLine(line)
  if (salt === undefined)
    return { link, linkText: linkText!, hash: hash!, salted: null, data: () => null, view: null, canonical }
  const data = () => JSON.parse(rest) as JsonObject
  const salted = saltedPayload(salt, rest)
  return { link, linkText: linkText!, hash: hash!, salted, data, view: null, canonical }
}

/** A text of JSON; most hold no escape, and parsing is what takes the time here. */
function unquote(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
}

const members = new Set(['link', 'hash', 'mac', 'key', 'salt', 'data', 'view'])

/** A line in another spelling, as after a program has rewritten it, or of a record without a chain. */
function readAnyLine(line: string): ReadEntry {
  const read = JSON.parse(line) as Readonly<Record<string, unknown>>
  if (read['entry'] !== undefined) return readPlain(read['entry'] as JournalEntry, read['redacted'] === true)
  const { link: given, hash, mac, key, salt, data, view } = read
  const known = Object.keys(read).every((name) => members.has(name))
  if (!known || typeof hash !== 'string' || typeof mac !== 'string' || typeof key !== 'string')
    throw new Error('this is no entry')
  if ((typeof salt === 'string') !== (typeof data === 'object' && data !== null))
    throw new Error('an entry has both a payload and its salt, or neither')
  const link = checkLink(given as ChainLink)
  const payload = typeof salt === 'string' ? (data as JsonObject) : null
  const entry = {
    link,
    linkText: canonicalJson(link as unknown as JsonObject),
    hash,
    salted: payload === null ? null : saltedPayload(salt as string, canonicalJson(payload)),
    data: () => payload,
    view: isJsonObject(view as Json) ? (view as JsonObject) : null,
  }
  return { ...entry, canonical: () => entry }
}

function readPlain(entry: JournalEntry, redacted: boolean): ReadEntry {
  const { run, seq, at, tenant, principal, type, data } = entry
  const link = checkLink({ v: chainVersion, run, seq, at, tenant, principal, type, payload: '', prev: null })
  const read = {
    link,
    linkText: writeLink(link),
    hash: null,
    salted: null,
    data: () => (redacted ? null : data),
    view: data,
  }
  return { ...read, canonical: () => read }
}

function checkLink(link: ChainLink | null | undefined): ChainLink {
  if (typeof link !== 'object' || link === null) throw new Error('this is no entry')
  const { v, run, seq, at, tenant, principal, type } = link
  const whole = [run, tenant, principal, type].every((each) => typeof each === 'string')
  if (v !== chainVersion || !whole || !Number.isSafeInteger(seq) || seq < 1 || typeof at !== 'number')
    throw new Error('this is no entry of a known version')
  return link
}

function unreadable(message: string): Finding {
  return { kind: 'unreadable', chain: null, seq: null, message }
}
