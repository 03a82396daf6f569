import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { readExport } from '../journal/read-export.ts'
import type { Finding } from '../proof/verdict.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import {
  archiveVersion,
  derivedMembers,
  journalName,
  manifestName,
  summarize,
  type ArchiveManifest,
} from './audit-archive.ts'
import { splitLines } from './split-lines.ts'
import { readZip } from './zip-reader.ts'

/** An archive as far as it can be trusted. */
export interface ReadArchive {
  /** The journal in it; empty where there is none. */
  readonly journal: Buffer
  /** The lines of the journal. */
  readonly lines: Iterable<string>
  /** What is wrong with the archive itself; what is wrong with the journal, the verifier says. */
  readonly findings: readonly Finding[]
}

const kibi = 1024
/** What an archive may unpack to: as much as memory holds, and not much more than real journals are packed. */
const limitsFor = (packed: number) => ({
  bytes: Math.min(2 * kibi ** 3, 16 * kibi ** 2 + packed * 200),
  members: 10_000,
})

/** Reads the archive of an export. Throws `usage` for an archive of something else; whatever else is wrong is a finding. */
export function readArchive(bytes: Buffer): ReadArchive {
  let members: ReadonlyMap<string, Buffer>
  try {
    members = readZip(bytes, limitsFor(bytes.length))
  } catch (error) {
    if (!LockstepError.isInstance(error)) throw error
    return nothing([finding('unreadable', error.message)])
  }
  const journal = members.get(journalName)
  const manifest = members.get(manifestName)
  if (journal === undefined && manifest === undefined)
    throw new LockstepError('usage', 'this archive is no export of Lockstep', {
      hint: 'make one: lockstep export --from DATE --to DATE -o FILE.zip',
    })
  const stated = readManifest(manifest)
  if (typeof stated === 'string') return nothing([finding('unreadable', stated)])
  const findings = compareMembers(members, stated)
  if (journal === undefined) return nothing(findings)
  if (!isUtf8(journal)) return nothing([...findings, finding('unreadable', `${journalName} is not UTF-8`)])
  const lines = splitLines(journal)
  // What is damaged already is not compared again with what follows from it.
  if (findings.length === 0) findings.push(...compareDerived(members, lines, stated))
  return { journal, lines, findings }
}

/** What is left of an export of which nothing can be read. */
export function nothing(findings: readonly Finding[]): ReadArchive {
  return { journal: Buffer.alloc(0), lines: [], findings }
}

function readManifest(bytes: Buffer | undefined): ArchiveManifest | string {
  if (bytes === undefined) return `${manifestName} is missing`
  try {
    const read = JSON.parse(bytes.toString('utf8')) as ArchiveManifest
    if (read.lockstep !== 'archive') return `${manifestName} is no manifest of an archive`
    if (!Number.isInteger(read.v) || read.v < 1) return `${manifestName} has no version`
    const whole = Array.isArray(read.members) && read.members.every((each) => typeof each?.name === 'string')
    return whole ? read : `${manifestName} is not whole`
  } catch (error) {
    return `${manifestName} cannot be read: ${messageOf(error)}`
  }
}

function compareMembers(
  members: ReadonlyMap<string, Buffer>,
  { members: stated }: ArchiveManifest,
): Finding[] {
  const findings: Finding[] = []
  const names = new Set(stated.map(({ name }) => name))
  if (names.size < stated.length) findings.push(finding('edit', `${manifestName} names a member twice`))
  for (const { name, bytes, sha256 } of stated) {
    const content = members.get(name)
    if (content === undefined) findings.push(finding('deletion', `${name} is missing`))
    else if (content.length !== bytes || hash('sha256', content, 'hex') !== sha256)
      findings.push(finding('edit', `${name} is not what the manifest states`))
  }
  for (const name of members.keys()) {
    if (name !== manifestName && !names.has(name))
      findings.push(finding('edit', `${name} is in the archive, and the manifest does not name it`))
  }
  return findings
}

/** What follows from the journal has to be what stands beside it. */
function compareDerived(
  members: ReadonlyMap<string, Buffer>,
  lines: Iterable<string>,
  { v, summary }: ArchiveManifest,
): Finding[] {
  if (v !== archiveVersion) return [finding('unreadable', `version ${v} of the archive is not known here`)]
  const read = readExport(lines)
  if (read.manifest === null || read.problems.length > 0) return []
  const findings: Finding[] = []
  if (summarize(read) !== summary)
    findings.push(finding('edit', `the summary in ${manifestName} does not follow from the journal`))
  const derived = derivedMembers(read)
  for (const [name, content] of members) {
    if (name === manifestName || name === journalName) continue
    const expected = derived.get(name)
    if (expected === undefined || expected !== content.toString('utf8'))
      findings.push(finding('edit', `${name} does not follow from the journal`))
  }
  for (const name of derived.keys())
    if (!members.has(name)) findings.push(finding('deletion', `${name} is missing`))
  return findings
}

function finding(kind: Finding['kind'], message: string): Finding {
  return { kind, chain: null, seq: null, message }
}
