import type { ReadEntry, ReadExport } from '../journal/read-export.ts'
import { haltedCalls, type HaltedCall } from '../journal/halted-calls.ts'
import { isTenantChain } from '../journal/chain.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'

/** An entry as reports show it. */
export interface AuditEntry {
  readonly seq: number
  readonly at: number
  readonly principal: string
  readonly type: string
  /** Empty where the payload was erased. */
  readonly data: JsonObject
  /** Secrets were taken out of what is shown, or all of it is gone. */
  readonly withheld: boolean
}

/** A run as reports tell of it. */
export interface AuditRun {
  readonly run: string
  readonly tenant: string
  /** Who is written down as having begun it. */
  readonly principal: string
  /** The id of the playbook, or its digest where its text is not there. */
  readonly playbook: string
  readonly digest: string
  readonly openedAt: number
  /** Null while it goes on. */
  readonly closedAt: number | null
  /** How it ended; `open` while it goes on. */
  readonly status: string
  readonly enforced: boolean
  readonly dryRun: boolean
  readonly inputs: JsonObject
  readonly entries: readonly AuditEntry[]
  /** What is wrong with calls that were let through while all runs were halted, by their entry. */
  readonly halted: ReadonlyMap<number, string>
  /** The hash of the last entry; null for a record without a chain. */
  readonly head: string | null
}

/** The runs of an export in the order in which they were begun. */
export function auditRuns({ manifest, chains }: ReadExport): readonly AuditRun[] {
  const halted = haltedCalls({ chains })
  const runs = [...chains].filter(([name]) => !isTenantChain(name))
  return runs
    .map(([run, entries]) => auditRun(run, entries, manifest?.documents ?? {}, halted))
    .toSorted((one, other) => one.openedAt - other.openedAt || (one.run < other.run ? -1 : 1))
}

function auditRun(
  run: string,
  entries: readonly ReadEntry[],
  documents: Readonly<Record<string, Json>>,
  halted: readonly HaltedCall[],
): AuditRun {
  const shown = entries.map(auditEntry)
  const first = shown[0]!
  const started = first.type === 'run.started' ? first.data : {}
  const digest = typeof started['playbook'] === 'string' ? started['playbook'] : ''
  const playbook = Object.hasOwn(documents, digest) ? documents[digest] : undefined
  const id = isJsonObject(playbook) ? playbook['id'] : undefined
  const finished = shown.findLast(({ type }) => type === 'run.finished')
  return {
    run,
    tenant: entries[0]!.link.tenant,
    principal: first.principal,
    playbook: typeof id === 'string' ? id : digest.slice(0, 19),
    digest,
    openedAt: first.at,
    closedAt: finished?.at ?? null,
    status: finished === undefined ? 'open' : String(finished.data['status'] ?? 'ended'),
    enforced: started['enforced'] !== false,
    dryRun: started['mode'] === 'dry-run',
    inputs: isJsonObject(started['inputs']) ? started['inputs'] : {},
    entries: shown,
    halted: new Map(halted.filter(({ chain }) => chain === run).map(({ seq, message }) => [seq, message])),
    head: entries.at(-1)!.hash,
  }
}

function auditEntry(entry: ReadEntry): AuditEntry {
  const { seq, at, principal, type } = entry.link
  const payload = safely(entry)
  return { seq, at, principal, type, data: payload ?? entry.view ?? {}, withheld: payload === null }
}

function safely(entry: ReadEntry): JsonObject | null {
  try {
    return entry.data()
  } catch {
    return null
  }
}
