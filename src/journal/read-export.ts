import { chainVersion, saltedPayload, writeLink, type ChainLink } from './chain.ts'
import { exportVersion, type ExportManifest } from './chain-export.ts'
import type { JournalEntry } from './journal.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'

/** An entry of an export. The texts are those that were hashed; the payload is read when somebody asks. */
export interface ReadEntry {
  readonly link: ChainLink
  readonly linkText: string
  /** Null for a record that was kept without a chain. */
  readonly hash: string | null
  /** What the digest of the payload is made of; null where the payload is not in the export. */
  readonly salted: string | null
  /** The payload, a value of its own each time. */
  data(): JsonObject | null
  /** What a withheld payload says for people; nothing proves it. */
  readonly view: JsonObject | null
  /** The same in canonical form, for where the line was spelled in another way than it was hashed; null if it is not even JSON. */
  canonical(): { readonly linkText: string; readonly salted: string | null } | null
}

/** An export, line by line. */
export interface ReadExport {
  readonly manifest: ExportManifest | null
  readonly chains: ReadonlyMap<string, readonly ReadEntry[]>
  /** What could not be read, each with its line. */
  readonly problems: readonly string[]
}

/** Reads the lines of an export. What cannot be read is said; nothing is thrown. */
export function readExport(lines: Iterable<string>): ReadExport {
  const problems: string[] = []
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
      problems.push(`line ${number}: ${messageOf(error)}`)
      if (manifest === null) break
    }
  }
  if (manifest === null && problems.length === 0) problems.push('the export is empty')
  return { manifest, chains, problems }
}

function readManifest(line: string): ExportManifest {
  const manifest = parseLine(line) as Partial<ExportManifest>
  const { lockstep, v, chains, period, documents, publicKeys, checkpoints, views } = manifest
  if (lockstep !== 'export') throw new Error('this is no export of Lockstep')
  if (v !== exportVersion) throw new Error(`version ${String(v)} of the format is not known here`)
  const objects = [documents, publicKeys, views ?? {}].every(
    (each) => typeof each === 'object' && each !== null,
  )
  const times = period === undefined || (Number.isFinite(period?.from) && Number.isFinite(period?.to))
  if (!Array.isArray(chains) || !Array.isArray(checkpoints) || !objects || !times)
    throw new Error('the manifest is not whole')
  return manifest as ExportManifest
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    const message = `the line is not one whole JSON document, and an export has one in each line: ${messageOf(cause)}`
    throw new Error(message, { cause })
  }
}

/** A line in the very form in which Lockstep writes it: what was hashed stands in it letter by letter, and is not written again. */
class SealedLine implements ReadEntry {
  readonly link: ChainLink
  readonly linkText: string
  readonly hash: string
  readonly salted: string
  readonly view = null
  readonly line: string
  readonly from: number

  constructor(line: string, link: ChainLink, linkText: string, hash: string, salted: string, from: number) {
    this.link = link
    this.linkText = linkText
    this.hash = hash
    this.salted = salted
    this.line = line
    this.from = from
  }

  data(): JsonObject {
    return JSON.parse(this.line.slice(this.from, -1)) as JsonObject
  }

  canonical(): ReturnType<ReadEntry['canonical']> {
    try {
      return readAnyLine(this.line)
    } catch {
      return null
    }
  }
}

const linkStart = '{"link":'.length
const digestSize = 'sha256:'.length + 64
const saltSize = 32

/**
 * Most of the time of reading an export is spent here: each part is taken from where it stands in a line that Lockstep wrote, if what
 * stands between the parts says that it is such a line. Whatever is spelled in another way is read the slow way.
 */
function readLine(line: string): ReadEntry {
  const payload = line.indexOf(',', linkStart) + ',"payload":"'.length
  const before = payload + digestSize + '","prev":'.length
  const first = line.startsWith('null', before)
  const principal = before + (first ? 'null'.length : digestSize + 2) + ',"principal":"'.length
  const run = line.indexOf('"', principal) + '","run":"'.length
  const seq = line.indexOf('"', run) + '","seq":'.length
  const tenant = line.indexOf(',', seq) + ',"tenant":"'.length
  const type = line.indexOf('"', tenant) + '","type":"'.length
  const end = line.indexOf('}', type) + 1
  const link: ChainLink = {
    v: chainVersion,
    run: line.slice(run, seq - '","seq":'.length),
    seq: Number(line.slice(seq, tenant - ',"tenant":"'.length)),
    at: Number(line.slice(linkStart + '{"at":'.length, payload - ',"payload":"'.length)),
    tenant: line.slice(tenant, type - '","type":"'.length),
    principal: line.slice(principal, run - '","run":"'.length),
    type: line.slice(type, line.indexOf('"', type)),
    payload: line.slice(payload, payload + digestSize),
    prev: first ? null : line.slice(before + 1, before + 1 + digestSize),
  }
  const linkText = line.slice(linkStart, end)
  const hash = end + ',"hash":"'.length
  const mac = hash + digestSize + '","mac":"'.length
  const key = line.indexOf('"', mac) + '","key":"'.length
  const salt = line.indexOf('"', key) + '","salt":"'.length
  const data = salt + saltSize + '","data":'.length
  const isKnown =
    line.startsWith('{"link":{"at":') &&
    line.startsWith(',"payload":"', payload - ',"payload":"'.length) &&
    line.startsWith('","prev":', payload + digestSize) &&
    line.startsWith(',"principal":"', principal - ',"principal":"'.length) &&
    line.startsWith('","run":"', run - '","run":"'.length) &&
    line.startsWith('","seq":', seq - '","seq":'.length) &&
    line.startsWith(',"tenant":"', tenant - ',"tenant":"'.length) &&
    line.startsWith('","type":"', type - '","type":"'.length) &&
    line.startsWith('","v":1}', end - '","v":1}'.length) &&
    !linkText.includes('\\') &&
    line.startsWith(',"hash":"', end) &&
    line.startsWith('","mac":"', hash + digestSize) &&
    line.startsWith('","key":"', key - '","key":"'.length) &&
    line.startsWith('","salt":"', salt - '","salt":"'.length) &&
    line.startsWith('","data":{', salt + saltSize) &&
    line.endsWith('}')
  if (!isKnown) return readAnyLine(line)
  const salted = saltedPayload(line.slice(salt, salt + saltSize), line.slice(data, -1))
  return new SealedLine(line, checkLink(link), linkText, line.slice(hash, hash + digestSize), salted, data)
}

const members = new Set(['link', 'hash', 'mac', 'key', 'salt', 'data', 'view'])

/** A line in another spelling, as after a program has rewritten it, or of a record without a chain. */
function readAnyLine(line: string): ReadEntry {
  const read = parseLine(line) as Readonly<Record<string, unknown>>
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
    data: () => (payload === null ? null : { ...payload }),
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
    data: () => (redacted ? null : { ...data }),
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
