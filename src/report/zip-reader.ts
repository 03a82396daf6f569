/**
 * Reads a ZIP archive that anybody may have made.
 *
 * Invariants
 * X1  Nothing is written anywhere: members come as bytes. A name that would lead out of a folder is refused all the same.
 * X2  What is unpacked is at most as large as the caller allows, all members together, and as large as it says.
 * X3  The two descriptions of a member agree, members do not overlap, and no name comes twice; otherwise two readers could see two archives.
 * X4  Every byte is one that Lockstep writes or that is checked: an archive that another program packed is refused.
 */
import { crc32, inflateRawSync } from 'node:zlib'
import { LockstepError } from '../shared/lockstep-error.ts'
import { fixedHead } from './zip-writer.ts'

/** The most bytes an archive may unpack to, and the most members it may have. */
export interface ZipLimits {
  readonly bytes: number
  readonly members: number
}

interface Member {
  readonly name: string
  /** How both descriptions put it. */
  readonly about: Buffer
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly at: number
}

/** The members of an archive by their names. Throws `invalid_archive` for one that is damaged or made to deceive. */
export function readZip(bytes: Buffer, limits: ZipLimits): ReadonlyMap<string, Buffer> {
  try {
    return readMembers(bytes, limits)
  } catch (error) {
    if (LockstepError.isInstance(error)) throw error
    // A number that points behind the end.
    throw refusal('it is damaged', error)
  }
}

/** Says whether the bytes begin or end as those of an archive do: one that was damaged is still one. */
export function looksLikeZip(bytes: Buffer): boolean {
  const is = (at: number, signature: string) => bytes.toString('latin1', at, at + 4) === signature
  return is(0, 'PK\u0003\u0004') || (bytes.length >= endSize && is(bytes.length - endSize, 'PK\u0005\u0006'))
}

const endSize = 22

function readMembers(bytes: Buffer, limits: ZipLimits): ReadonlyMap<string, Buffer> {
  const members = readDirectory(bytes, limits)
  const found = new Map<string, Buffer>()
  let end = 0
  for (const member of members.toSorted((one, other) => one.at - other.at)) {
    const { name, at } = member
    if (at !== end) throw refusal(`${quoted(name)} overlaps another member, or something lies before it`)
    const start = checkLocal(bytes, member)
    end = start + member.packed
    if (found.has(name)) throw refusal(`${quoted(name)} is in it twice`)
    found.set(name, unpack(bytes.subarray(start, end), member))
  }
  if (end !== bytes.readUInt32LE(bytes.length - endSize + 16))
    throw refusal('something lies behind its members')
  return found
}

function readDirectory(bytes: Buffer, limits: ZipLimits): readonly Member[] {
  // Without a comment, as Lockstep writes it: a comment could hold a second end.
  const end = bytes.length - endSize
  if (end < 0 || bytes.readUInt32LE(end) !== 0x0605_4b50)
    throw refusal('it has no end, or something behind it')
  const count = bytes.readUInt16LE(end + 10)
  const size = bytes.readUInt32LE(end + 12)
  const start = bytes.readUInt32LE(end + 16)
  if (
    bytes.readUInt32LE(end + 4) !== 0 ||
    bytes.readUInt16LE(end + 8) !== count ||
    bytes.readUInt16LE(end + 20) !== 0
  )
    throw refusal('it is a part of another archive')
  if (count > limits.members) throw refusal(`it has ${count} members, and ${limits.members} are allowed`)
  if (start + size !== end) throw refusal('its directory is not where it says')
  const members: Member[] = []
  let at = start
  let total = 0
  for (let number = 0; number < count; number++) {
    if (bytes.readUInt32LE(at) !== 0x0201_4b50) throw refusal('its directory is damaged')
    const label = bytes.readUInt16LE(at + 28)
    const member = {
      about: bytes.subarray(at + 6, at + 32),
      crc: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      at: bytes.readUInt32LE(at + 42),
      name: bytes.toString('utf8', at + 46, at + 46 + label),
    }
    const isOurs =
      bytes.readUInt16LE(at + 4) === 20 && bytes.subarray(at + 32, at + 42).every((byte) => byte === 0)
    if (!isOurs || !member.about.subarray(0, fixedHead.length).equals(fixedHead))
      throw refusal(`${quoted(member.name)} was not packed by Lockstep`)
    checkMember(member)
    total += member.size
    if (total > limits.bytes) throw refusal(`it unpacks to more than ${limits.bytes} bytes`)
    members.push(member)
    at += 46 + label
  }
  if (at !== end) throw refusal('its directory is damaged')
  return members
}

function checkMember({ name }: Member): void {
  const parts = name.split('/')
  const leadsOut = parts.some((part) => part === '' || part === '.' || part === '..')
  // oxlint-disable-next-line no-control-regex -- these characters are what is looked for
  if (leadsOut || /[\\:\u0000-\u001f\u007f\ufffd]/.test(name))
    throw refusal(`${quoted(name)} is no name of a member`)
}

/** Where the bytes of a member begin, after its own description was compared with the directory's (X3). */
function checkLocal(bytes: Buffer, { name, at, about }: Member): number {
  const label = Buffer.byteLength(name)
  const same =
    bytes.readUInt32LE(at) === 0x0403_4b50 &&
    bytes.subarray(at + 4, at + 30).equals(about) &&
    bytes.toString('utf8', at + 30, at + 30 + label) === name
  if (!same) throw refusal(`${quoted(name)} is described in two ways`)
  return at + 30 + label
}

function unpack(packed: Buffer, { name, size, crc }: Member): Buffer {
  let bytes: Buffer
  try {
    bytes = inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) })
  } catch (cause) {
    throw refusal(`${quoted(name)} does not unpack to what it says`, cause)
  }
  if (bytes.length !== size || crc32(bytes) !== crc) throw refusal(`${quoted(name)} is damaged`)
  return bytes
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}

function refusal(what: string, cause?: unknown): LockstepError {
  return new LockstepError('invalid_archive', `The archive cannot be trusted: ${what}.`, {
    cause,
    hint: 'ask for it again, as lockstep export wrote it',
  })
}
