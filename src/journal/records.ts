import { redactObject } from '../shared/redact.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Checkpoint } from './chain-checkpoint.ts'
import { tenantChain, type SealedEntry } from './chain.ts'
import type { ExportPeriod } from './chain-export.ts'
import type { ChainStore } from './chain-store.ts'
import { documentsOf, exportChains, exportPlain } from './export-chains.ts'
import type { Halt, Journal, JournalEntry } from './journal.ts'

/** Runs in files, and the documents they refer to. */
export type FileRecords = Journal & Pick<ChainStore, 'kept'>

/** A run as a list shows it. */
export interface RunSummary {
  readonly run: string
  /** The id of the playbook, or its digest where its text was not kept; null where the record does not say. */
  readonly playbook: string | null
  /** How it ended, `open` while it goes on, `unreadable` if the record cannot be trusted. */
  readonly status: string
  readonly startedAt: number | null
  readonly lastAt: number | null
  readonly entries: number
  readonly chained: boolean
}

/** The runs of a tenant that go on; where none does, the newest. */
function openOrNewest(entries: readonly SealedEntry[]): readonly string[] {
  const open = new Set<string>()
  let newest: string | null = null
  for (const { link, payload } of entries) {
    const run = payload?.data['run']
    if (typeof run !== 'string') continue
    if (link.type === 'run.opened') open.add((newest = run))
    if (link.type === 'run.closed') open.delete(run)
  }
  return open.size > 0 || newest === null ? [...open] : [newest]
}

/** Everything that was recorded in a data folder: in the chained store, and in files. */
export class Records {
  readonly #files: FileRecords
  readonly #chained: ChainStore | null

  constructor(files: FileRecords, chained: ChainStore | null) {
    this.#files = files
    this.#chained = chained
  }

  /** The names of all runs, in the order of their names. */
  async runs(): Promise<readonly string[]> {
    const names = new Set([...(await this.#files.runs()), ...((await this.#chained?.runs()) ?? [])])
    return [...names].sort()
  }

  /** Says whether the run has a chain. */
  async isChained(run: string): Promise<boolean> {
    return (await this.#chained?.has(run)) ?? false
  }

  /** The runs of the chained store that have not ended. */
  async openRuns(): Promise<readonly string[]> {
    return (await this.#chained?.openRuns()) ?? []
  }

  /** Who halted a tenant; null while nobody has. */
  async halted(tenant: string): Promise<Halt | null> {
    return (await this.#chained?.halted(tenant)) ?? null
  }

  /** The entries of a run. Throws `journal_unreadable` if they cannot be trusted. */
  async read(run: string): Promise<readonly JournalEntry[]> {
    const chained = (await this.#chained?.read(run)) ?? []
    return chained.length > 0 ? chained : await this.#files.read(run)
  }

  /** What a list says of the newest runs, so many or all of them, the newest first; and how many runs there are. Only those that are told of are read. */
  async newest(
    most: number = Infinity,
  ): Promise<{ readonly summaries: readonly RunSummary[]; readonly total: number }> {
    const begun = await this.#chainedStarts()
    const chained = [...begun].toSorted(([, one], [, other]) => other - one).slice(0, most)
    const files = (await this.#files.runs()).filter((run) => !begun.has(run))
    const summaries = []
    for (const [run] of chained) summaries.push(await this.summary(run, true))
    for (const run of files) summaries.push(await this.summary(run, false))
    summaries.sort((one, other) => (other.startedAt ?? 0) - (one.startedAt ?? 0))
    return { summaries: summaries.slice(0, most), total: begun.size + files.length }
  }

  /** When each run of the chained store was begun, as the tenants' chains say. */
  async #chainedStarts(): Promise<ReadonlyMap<string, number>> {
    const store = this.#chained
    const begun = new Map((await store?.runs())?.map((run) => [run, 0]))
    for (const tenant of (await store?.tenants()) ?? []) {
      for (const { link, payload } of await store!.sealed(tenantChain(tenant))) {
        const run = payload?.data['run']
        if (link.type === 'run.opened' && typeof run === 'string') begun.set(run, link.at)
      }
    }
    return begun
  }

  /** What a list says of a run; never throws. */
  async summary(run: string, isChained: boolean | null = null): Promise<RunSummary> {
    const chained = isChained ?? (await this.isChained(run))
    let entries: readonly JournalEntry[] = []
    let readable = true
    try {
      entries = await this.read(run)
    } catch {
      readable = false
    }
    const [first] = entries
    const finished = entries.findLast(({ type }) => type === 'run.finished')
    const status = finished === undefined ? 'open' : String(finished.data['status'])
    return {
      run,
      playbook: first === undefined ? null : await this.#playbookName(first),
      status: readable ? status : 'unreadable',
      startedAt: first?.at ?? null,
      lastAt: entries.at(-1)?.at ?? null,
      entries: entries.length,
      chained,
    }
  }

  /** The playbook, policy or list of tools with the digest; null if it was not kept. */
  async document(digest: string): Promise<Json | null> {
    const text = (await this.#chained?.kept(digest)) ?? (await this.#files.kept(digest))
    return text === null ? null : (JSON.parse(text) as Json)
  }

  /** The lines of an export of one run; whole, or without payloads that hold a secret. */
  async export(run: string, redacted: boolean): Promise<string[]> {
    const redact = redacted ? redactObject : undefined
    if (this.#chained !== null && (await this.isChained(run)))
      return await exportChains(this.#chained, [run], { redact })
    const entries = await this.#files.read(run)
    const documents: Record<string, Json> = {}
    for (const digest of documentsOf(entries)) {
      const document = await this.document(digest)
      if (document !== null) documents[digest] = document
    }
    return exportPlain(entries, documents, redact)
  }

  /** The lines of an export of every chained run, with the tenants' own chains. */
  async exportAll(redacted: boolean): Promise<string[]> {
    const store = this.#chainedStore()
    const redact = redacted ? redactObject : undefined
    return await exportChains(store, await store.runs(), { tenants: await store.tenants(), redact })
  }

  /** The lines of an export of every chained run that was opened in a time, with the tenants' own chains. */
  async exportPeriod(period: ExportPeriod, redacted: boolean): Promise<string[]> {
    const store = this.#chainedStore()
    const tenants = await store.tenants()
    const runs: string[] = []
    for (const tenant of tenants) {
      for (const { link, payload } of await store.sealed(tenantChain(tenant))) {
        if (link.type !== 'run.opened' || link.at < period.from || link.at >= period.to) continue
        if (typeof payload?.data['run'] === 'string') runs.push(payload.data['run'])
      }
    }
    return await exportChains(store, runs, { tenants, period, redact: redacted ? redactObject : undefined })
  }

  /** Signed statements, made now, of where the run stands, or for null of where every tenant does; none where there is no chain. */
  async checkpoints(run: string | null, at: number): Promise<readonly Checkpoint[]> {
    const store = this.#chained
    if (store === null) return []
    if (run !== null) return (await this.isChained(run)) ? [await store.checkpoint(run, at)] : []
    const signed: Checkpoint[] = []
    for (const tenant of await store.tenants()) {
      // The tenant's chain vouches for what is closed, and a checkpoint of a run signs for its tenant, too.
      for (const name of openOrNewest(await store.sealed(tenantChain(tenant))))
        signed.push(await store.checkpoint(name, at))
    }
    return signed
  }

  /** The public keys of the chained store by their id, in PEM. */
  publicKeys(): Readonly<Record<string, string>> {
    return this.#chained?.publicKeys() ?? {}
  }

  async close(): Promise<void> {
    await this.#files.close()
    await this.#chained?.close()
  }

  #chainedStore(): ChainStore {
    if (this.#chained !== null) return this.#chained
    throw new LockstepError(
      'not_available',
      'There is no chained store here, so nothing says which runs there are.',
    )
  }

  async #playbookName({ data }: JournalEntry): Promise<string | null> {
    const digest = data['playbook']
    if (typeof digest !== 'string') return null
    const playbook = (await this.document(digest).catch(() => null)) as JsonObject | null
    return typeof playbook?.['id'] === 'string' ? playbook['id'] : digest.slice(0, 19)
  }
}
