import { digest } from '../shared/digest.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { isTenantChain, tenantChain, type SealedEntry } from './chain.ts'
import type { ChainHead, Checkpoint } from './chain-checkpoint.ts'
import {
  exportVersion,
  writePlainLine,
  writeSealedLine,
  type ExportManifest,
  type ExportPeriod,
} from './chain-export.ts'
import type { ChainStore } from './chain-store.ts'
import { viewsText, type ShownView } from './export-views.ts'
import type { JournalEntry } from './journal.ts'

/** What an export takes from a store. */
export type ExportSource = Pick<ChainStore, 'sealed' | 'checkpoints' | 'kept' | 'publicKeys' | 'sign'>

/** How runs are exported. */
export interface ExportOptions {
  /** Tenants whose own chains go along, with every run of theirs: the export says that it is complete. */
  readonly tenants?: readonly string[]
  /** The time in which the runs were opened. What a tenant's chain says of others is withheld. */
  readonly period?: ExportPeriod | undefined
  readonly redact?: Redact | undefined
}

/**
 * Takes secrets out of a payload or a document. A payload that this changes is withheld, and stands in the export as its digest and, for
 * people, as what is left; such a document is left out.
 */
export type Redact = (data: JsonObject) => JsonObject

/** The lines of an export of chained runs: the manifest, then every entry. */
export async function exportChains(
  source: ExportSource,
  runs: readonly string[],
  { tenants = [], period, redact }: ExportOptions = {},
): Promise<string[]> {
  const read = new Map<string, readonly SealedEntry[]>()
  const sealed = async (chain: string) => {
    const entries = read.get(chain) ?? (await source.sealed(chain))
    // Each chain is read once; of many, none is kept.
    if (tenants.length === 0) read.set(chain, entries)
    return entries
  }
  const witnesses = tenants.length === 0 ? await tenantsOfGone(runs, sealed) : tenants
  const names = [...witnesses.map(tenantChain), ...runs]
  const chains: ExportManifest['chains'][number][] = []
  const documents: Record<string, Json> = {}
  const checkpoints = new Map<string, Checkpoint>()
  const lines: string[] = ['']
  const views: ShownView[] = []
  const chosen = new Set<unknown>(runs)
  const asked = new Set<string>()
  const partial = period !== undefined || tenants.length === 0
  const isWithheld = ({ link, payload }: SealedEntry) =>
    partial && isTenantChain(link.run) && !chosen.has(payload?.data['run'])
  for (const chain of names) {
    const entries = await sealed(chain)
    chains.push({ chain, entries: entries.length, hash: entries.at(-1)?.hash ?? null })
    for (const name of documentsOf(entries)) {
      if (!asked.has(name)) await addDocument(source, name, documents, redact)
      asked.add(name)
    }
    // Whatever is signed of a run is signed of its tenant, too, so that one question is enough for all runs.
    const signed = tenants.length === 0 || isTenantChain(chain) ? await source.checkpoints(chain) : []
    for (const each of signed) {
      // The names of other runs do not leave the house.
      const isAbout = ({ chain: name }: ChainHead) => isTenantChain(name) || chosen.has(name)
      if (!partial || each.heads.every(isAbout)) checkpoints.set(each.signature, each)
    }
    for (const entry of entries) {
      const payload = isWithheld(entry) ? null : entry.payload
      const view = payload === null || redact === undefined ? null : viewOf(payload.data, redact)
      if (view !== null) views.push({ hash: entry.hash, view })
      lines.push(writeSealedLine({ ...entry, payload }, view))
    }
  }
  const manifest: ExportManifest = {
    lockstep: 'export',
    v: exportVersion,
    chains,
    complete: tenants.length > 0 && period === undefined,
    ...(period === undefined ? {} : { period }),
    documents,
    publicKeys: source.publicKeys(),
    checkpoints: [...checkpoints.values()],
    ...(views.length === 0 ? {} : { views: source.sign(viewsText(views, digest)) }),
  }
  lines[0] = JSON.stringify(manifest)
  return lines
}

/** The tenants of runs with payloads that are gone: only their chains say whether they were erased. */
async function tenantsOfGone(
  runs: readonly string[],
  sealed: (chain: string) => Promise<readonly SealedEntry[]>,
): Promise<readonly string[]> {
  const tenants = new Set<string>()
  for (const run of runs) {
    const gone = (await sealed(run)).find(({ payload }) => payload === null)
    if (gone !== undefined) tenants.add(gone.link.tenant)
  }
  return [...tenants]
}

/** The lines of an export of a run that was kept without a chain. */
export function exportPlain(
  entries: readonly JournalEntry[],
  documents: Readonly<Record<string, Json>>,
  redact: Redact = (data) => data,
): string[] {
  const chain = entries[0]?.run ?? ''
  const manifest: ExportManifest = {
    lockstep: 'export',
    v: exportVersion,
    chains: [{ chain, entries: entries.length, hash: null }],
    complete: false,
    documents: Object.fromEntries(
      Object.entries(documents).filter(([, document]) => viewOf(document, redact) === null),
    ),
    publicKeys: {},
    checkpoints: [],
  }
  const lines = entries.map((entry) => writePlainLine(entry, viewOf(entry.data, redact)))
  return [JSON.stringify(manifest), ...lines]
}

/** The value without its secrets; null if it holds none. */
function viewOf(value: Json, redact: Redact): JsonObject | null {
  if (!isJsonObject(value)) return null
  const view = redact(value)
  return JSON.stringify(view) === JSON.stringify(value) ? null : view
}

/** The digests of what a run rests on: its playbook, its list of tools, every policy that was asked. */
export function documentsOf(entries: Iterable<SealedEntry | JournalEntry>): ReadonlySet<string> {
  const digests = new Set<string>()
  const add = (digest: unknown) => typeof digest === 'string' && digests.add(digest)
  for (const entry of entries) {
    const type = 'link' in entry ? entry.link.type : entry.type
    const data = 'link' in entry ? entry.payload?.data : entry.data
    if (data === undefined) continue
    if (type === 'run.started') [data['playbook'], data['tools']].forEach(add)
    const { policies } = (data['policy'] as { decision?: { policies?: unknown } } | undefined)?.decision ?? {}
    if (Array.isArray(policies))
      for (const each of policies) add((each as { digest?: unknown } | null)?.digest)
  }
  return digests
}

async function addDocument(
  source: ExportSource,
  digest: string,
  documents: Record<string, Json>,
  redact: Redact = (data) => data,
): Promise<void> {
  const text = await source.kept(digest)
  if (text === null) return
  const document = JSON.parse(text) as Json
  if (viewOf(document, redact) === null) documents[digest] = document
}
