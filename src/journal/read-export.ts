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
  const rest = Iterator.from(lines)
  let number = 0
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    number++
    if (isBlank(next.value)) continue
    let manifest: ExportManifest
    try {
      manifest = readManifest(next.value)
    } catch (error) {
      return nothing(`line ${number}: ${messageOf(error)}`)
    }
    return { manifest, ...readEntries(rest, number) }
  }
  return nothing('the export is empty')
}

function nothing(why: string): ReadExport {
  return { manifest: null, chains: new Map(), problems: [why] }
}

/** Reads the entries of an export, which stand in the lines behind the given number of others. */
export function readEntries(lines: Iterable<string>, before = 0): Omit<ReadExport, 'manifest'> {
  const problems: string[] = []
  const chains = new Map<string, ReadEntry[]>()
  const reader = new LineReader()
  let number = before
  for (const line of lines) {
    number++
    if (isBlank(line)) continue
    try {
      const entry = reader.read(line)
      const chain = chains.get(entry.link.run)
      if (chain === undefined) chains.set(entry.link.run, [entry])
      else chain.push(entry)
    } catch (error) {
      problems.push(`line ${number}: ${messageOf(error)}`)
    }
  }
  return { chains, problems }
}

/** Whether nothing stands in a line of an export, as behind the last one. */
export function isBlank(line: string): boolean {
  return line.trim() === ''
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
  readonly hash: string
  readonly view = null
  readonly #line: string
  /** Where the link ends, and where the salt and the payload begin. */
  readonly #end: number
  readonly #salt: number
  readonly #data: number

  constructor(line: string, link: ChainLink, end: number, salt: number) {
    this.link = link
    this.hash = line.slice(end + hashSign.length, end + hashSign.length + digestSize)
    this.#line = line
    this.#end = end
    this.#salt = salt
    this.#data = salt + saltSize + dataSign.length - 1
  }

  get linkText(): string {
    return this.#line.slice(linkStart, this.#end)
  }

  get salted(): string {
    return saltedPayload(
      this.#line.slice(this.#salt, this.#salt + saltSize),
      this.#line.slice(this.#data, -1),
    )
  }

  data(): JsonObject {
    return JSON.parse(this.#line.slice(this.#data, -1)) as JsonObject
  }

  canonical(): ReturnType<ReadEntry['canonical']> {
    try {
      return readAnyLine(this.#line)
    } catch {
      return null
    }
  }
}

const linkStart = '{"link":'.length
const timeStart = '{"link":{"at":'.length
const digestSize = 'sha256:'.length + 64
const macSize = 64
const saltSize = 32
const payloadSign = ',"payload":"'
const prevSign = '","prev":'
const hashSign = ',"hash":"'
const macSign = '","mac":"'
const dataSign = '","data":{'

/** What the lines of a chain have in common, as they spell it: it is compared, and not read again. */
interface Frame {
  readonly principal: string
  readonly run: string
  readonly tenant: string
  /** From behind the hash before to the number of the entry. */
  readonly who: string
  /** From behind that number to the type. */
  readonly where: string
  /** From behind the authentication code to the salt. */
  readonly key: string
}

/**
 * Most of the time of reading an export is spent here: each part is taken from where it stands in a line that Lockstep wrote, if what
 * stands between the parts says that it is such a line. Whatever is spelled in another way is read the slow way.
 */
class LineReader {
  #frame: Frame | null = null

  read(line: string): ReadEntry {
    const known = this.#frame === null ? null : readFramed(line, this.#frame)
    if (known !== null) return known
    this.#frame = frameOf(line)
    return (this.#frame === null ? null : readFramed(line, this.#frame)) ?? readAnyLine(line)
  }
}

function readFramed(line: string, frame: Frame): ReadEntry | null {
  const payload = line.indexOf(',', timeStart) + payloadSign.length
  const prev = payload + digestSize + prevSign.length
  const first = line.startsWith('null', prev)
  const who = prev + (first ? 'null'.length : digestSize + 2)
  const seq = who + frame.who.length
  const where = line.indexOf(',', seq)
  const type = where + frame.where.length
  const typeEnd = line.indexOf('"', type)
  const end = typeEnd + '","v":1}'.length
  const mac = end + hashSign.length + digestSize + macSign.length
  const salt = mac + macSize + frame.key.length
  const isKnown =
    line.startsWith('{"link":{"at":') &&
    line.startsWith(payloadSign, payload - payloadSign.length) &&
    line.startsWith(prevSign, payload + digestSize) &&
    line.startsWith(frame.who, who) &&
    line.startsWith(frame.where, where) &&
    line.startsWith('","v":1},"hash":"', typeEnd) &&
    line.startsWith(macSign, mac - macSign.length) &&
    line.startsWith(frame.key, mac + macSize) &&
    line.startsWith(dataSign, salt + saltSize) &&
    line.endsWith('}')
  if (!isKnown) return null
  const link: ChainLink = {
    v: chainVersion,
    run: frame.run,
    seq: readNumber(line, seq, where),
    at: readNumber(line, timeStart, payload - payloadSign.length),
    tenant: frame.tenant,
    principal: frame.principal,
    type: line.slice(type, typeEnd),
    payload: line.slice(payload, payload + digestSize),
    prev: first ? null : line.slice(prev + 1, prev + 1 + digestSize),
  }
  // An escaped letter stands for another one.
  if (link.type.includes('\\')) return null
  return new SealedLine(line, checkLink(link), end, salt)
}

/** The whole number in a part of a line, without cutting it out; what is spelled in another way is left to the platform. */
function readNumber(line: string, from: number, to: number): number {
  let number = 0
  for (let index = from; index < to; index++) {
    const digit = line.charCodeAt(index) - zero
    if (!(digit >= 0 && digit <= 9) || index - from === mostDigits) return Number(line.slice(from, to))
    number = number * 10 + digit
  }
  return number
}

const zero = 0x30
/** So many digits are exact, whatever they are. */
const mostDigits = 15

const framePattern =
  /^\{"link":\{"at":[^,]*,"payload":"[^"]*","prev":(?:null|"[^"]*")(,"principal":"([^"\\]*)","run":"([^"\\]*)","seq":)\d+(,"tenant":"([^"\\]*)","type":")[^"]*","v":1\},"hash":"[^"]*","mac":"[^"]*(","key":"[^"\\]*","salt":")/

function frameOf(line: string): Frame | null {
  const [, who, principal, run, where, tenant, key] = framePattern.exec(line) ?? []
  if (key === undefined) return null
  return { principal: principal!, run: run!, tenant: tenant!, who: who!, where: where!, key }
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
