/**
 * The archive for auditors.
 *
 * Owns: which members it has.
 *
 * Invariants
 * U1  `journal.jsonl` is an export as any other; every other member but the manifest follows from it, letter by letter, and can be made again.
 * U2  The manifest states the digest of every other member.
 */
import { hash } from 'node:crypto'
import type { ExportPeriod } from '../journal/chain-export.ts'
import { checkTenants } from '../proof/check-tenant.ts'
import { readExport, type ReadExport } from '../journal/read-export.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import { isJsonObject, type Json } from '../shared/json.ts'
import { auditExceptions, countApprovals } from './audit-exception.ts'
import { writeAuditPage } from './audit-page.ts'
import { auditRuns } from './audit-run.ts'
import { writeApprovals, writeExceptions, writeRuns } from './audit-tables.ts'
import { writeTime } from './csv.ts'

/** The version of the archive; a reader compares what follows from the journal only for the one it writes itself. */
export const archiveVersion = 1

/** The names of the two members that every archive has. */
export const manifestName = 'manifest.json'
export const journalName = 'journal.jsonl'

/** What the manifest of an archive says. */
export interface ArchiveManifest {
  readonly lockstep: 'archive'
  readonly v: number
  readonly summary: string
  readonly members: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[]
}

/** The figures of an export in one line: `212 runs opened, 212 closed, none missing · 9 approvals · 2 exceptions`. */
export function summarize(read: ReadExport): string {
  const runs = auditRuns(read)
  const known = read.manifest === null ? null : checkTenants(read.chains, read.manifest).runs
  const opened = known?.opened ?? runs.length
  const closed = known?.closed ?? runs.filter(({ closedAt }) => closedAt !== null).length
  const missing =
    known === null ? 'nobody says whether one is missing' : `${known.missing.length || 'none'} missing`
  const counts = [count(countApprovals(runs), 'approval'), count(auditExceptions(runs).length, 'exception')]
  return [`${count(opened, 'run')} opened, ${figure(closed)} closed, ${missing}`, ...counts].join(' · ')
}

/** Every member that follows from an export (U1). */
export function derivedMembers(read: ReadExport): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  const runs = auditRuns(read)
  const exceptions = auditExceptions(runs)
  const { manifest } = read
  for (const [digest, document] of Object.entries(manifest?.documents ?? {})) {
    members.set(documentName(digest, document), `${JSON.stringify(document, null, 2)}\n`)
  }
  const { publicKeys = {}, checkpoints = [], period } = manifest ?? {}
  members.set('public-keys.pem', Object.values(publicKeys).join(''))
  members.set(
    'checkpoints.jsonl',
    checkpoints.map((each) => `${canonicalJson(each as unknown as Json)}\n`).join(''),
  )
  members.set('runs.csv', writeRuns(runs, exceptions))
  members.set('approvals.csv', writeApprovals(runs))
  members.set('exceptions.csv', writeExceptions(exceptions))
  const times = period === undefined ? 'All runs' : describePeriod(period)
  members.set('report.html', writeAuditPage(times, summarize(read), runs, exceptions))
  return members
}

/** All members of the archive of an export, the manifest first. */
export function archiveMembers(
  lines: readonly string[],
): readonly (readonly [name: string, content: string | Buffer])[] {
  const read = readExport(lines)
  const members = [[journalName, joinLines(lines)] as const, ...derivedMembers(read)]
  const manifest: ArchiveManifest = {
    lockstep: 'archive',
    v: archiveVersion,
    summary: summarize(read),
    members: members.map(([name, content]) => ({
      name,
      bytes: Buffer.byteLength(content),
      sha256: hash('sha256', content, 'hex'),
    })),
  }
  return [[manifestName, `${JSON.stringify(manifest, null, 2)}\n`], ...members]
}

/** The end may lie behind the last day there is. */
function describePeriod({ from, to }: ExportPeriod): string {
  const end = Number.isNaN(new Date(to).getTime()) ? '' : ` to before ${writeTime(to)}`
  return `Runs from ${writeTime(from)}${end}`
}

/** A text of all lines may be longer than a text can be. */
function joinLines(lines: readonly string[]): Buffer {
  return Buffer.concat(lines.map((line) => Buffer.from(`${line}\n`)))
}

function documentName(digest: string, document: Json): string {
  const short = digest.replace('sha256:', '').slice(0, 12)
  const { id, tools, steps, program } = isJsonObject(document) ? document : {}
  const kind =
    tools !== undefined && id === undefined
      ? 'tools'
      : (steps ?? program) === undefined
        ? 'policies'
        : 'playbooks'
  const name = typeof id === 'string' ? `${id.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60)}-` : ''
  return `${kind}/${name}${short}.json`
}

function count(number: number, what: string): string {
  return `${figure(number)} ${what}${number === 1 ? '' : 's'}`
}

/** A number with its thousands apart, the same on every machine. */
export function figure(number: number): string {
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}
