import { blankRun } from '../api/blank-run.ts'
import { RunFold, type RunPage } from '../api/run-fold.ts'
import type { ChainStore } from '../journal/chain-store.ts'
import type { RunCard } from '../overview/run-card.ts'
import { playbookName } from '../overview/send-card.ts'
import { sendEntry } from '../overview/send-entry.ts'
import { readBack, type FlowStep } from '../playbook/explain/read-back.ts'
import { readKeptPlaybook } from '../playbook/read-kept-playbook.ts'

/** A page as it was made last, and of how many entries. */
interface KeptPage {
  readonly fold: RunFold
  entries: number
  bytesSent: Buffer | null
  bytes: number
}

const mostFlows = 500
/** How much of pages is kept, so that one that is looked at often is not made anew each time. */
const mostBytes = 32_000_000

/** Runs as their pages show them, made from the record, and made further when it has grown. */
export class RunPages {
  readonly #store: Pick<ChainStore, 'read' | 'kept'>
  readonly #flows = new Map<string, readonly FlowStep[]>()
  readonly #kept = new Map<string, KeptPage>()
  #bytes = 0

  constructor(store: Pick<ChainStore, 'read' | 'kept'>) {
    this.#store = store
  }

  /** The page of a run as its card says it is. Throws `journal_unreadable` if the record cannot be trusted. */
  async page(card: RunCard): Promise<RunPage> {
    return (await this.#current(card)).fold.page
  }

  /** The same as it is sent: of a run that has ended it is always the same. */
  async sent(card: RunCard): Promise<Buffer> {
    const kept = await this.#current(card)
    kept.bytesSent ??= Buffer.from(JSON.stringify(kept.fold.page))
    return kept.bytesSent
  }

  async #current(card: RunCard): Promise<KeptPage> {
    const known = this.#kept.get(card.run)
    if (known !== undefined && known.entries >= card.entries) return known
    // Nobody else's half-made page: two requests may come at once.
    const base = known?.fold.page ?? (await this.#blank(card))
    const fold = new RunFold(base)
    let bytes = known?.bytes ?? 2000
    for (const entry of await this.#store.read(card.run, base.seq + 1)) {
      const sent = sendEntry(entry)
      fold.apply(sent)
      bytes += 500 + JSON.stringify(sent.data).length
    }
    const made: KeptPage = { fold, entries: fold.page.seq, bytesSent: null, bytes }
    this.#keep(card.run, made)
    return made
  }

  async #blank(card: RunCard): Promise<RunPage> {
    const page = blankRun(card.run, playbookName(card), await this.#flow(card.digest))
    // What only the lists know: a run below another one stands in its project.
    return { ...page, project: card.project }
  }

  async #flow(digest: string | null): Promise<readonly FlowStep[]> {
    if (digest === null) return []
    const known = this.#flows.get(digest)
    if (known !== undefined) return known
    const text = await this.#store.kept(digest)
    const playbook = text === null ? null : readPlaybook(text)
    const flow = playbook === null ? [] : readBack(playbook).flow
    if (this.#flows.size >= mostFlows) this.#flows.clear()
    this.#flows.set(digest, flow)
    return flow
  }

  /** The pages that were not asked for the longest go first. */
  #keep(run: string, page: KeptPage): void {
    this.#bytes += page.bytes - (this.#kept.get(run)?.bytes ?? 0)
    this.#kept.delete(run)
    this.#kept.set(run, page)
    for (const [name, { bytes }] of this.#kept) {
      if (this.#bytes <= mostBytes || name === run) return
      this.#kept.delete(name)
      this.#bytes -= bytes
    }
  }
}

function readPlaybook(text: string): ReturnType<typeof readKeptPlaybook> {
  try {
    return readKeptPlaybook(text)
  } catch {
    return null
  }
}
