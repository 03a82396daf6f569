import type { JournalEntry } from '../journal/journal.ts'
import { runEnds, type RunEnd } from '../run/event.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { redactText } from '../shared/redact.ts'
import { HeldCalls, type HeldCall } from './held-call.ts'
import { readOrigin, type RunOrigin } from './run-origin.ts'

/** Where a run stands, as lists say it. `waiting` waits for a person; `unreadable` is a record that was erased or cannot be trusted. */
export type CardStatus = 'running' | 'waiting' | 'paused' | RunEnd | 'unreadable'

/** A run as lists show it. Times are epoch milliseconds. */
export interface RunCard {
  readonly run: string
  readonly tenant: string
  readonly project: string | null
  readonly runbook: RunOrigin['runbook']
  /** The name of the playbook, or the beginning of its digest where its text was not kept. */
  readonly playbook: string | null
  /** The digest of the playbook that the run is pinned to. */
  readonly digest: string | null
  readonly mode: 'execute' | 'dry-run'
  readonly status: CardStatus
  /** Why it did not succeed, or is paused; without secrets, and cut short. */
  readonly reason: string | null
  readonly startedAt: number
  readonly endedAt: number | null
  readonly lastAt: number
  readonly startedBy: string
  readonly model: string | null
  /** The calls that were let through, and those that were not. */
  readonly calls: number
  readonly denied: number
  readonly tokens: number
  /** In dollars, with the runs below it; null where a model has no price. */
  readonly cost: number | null
  /** The calls that wait for approval. */
  readonly waiting: number
  /** The run above, if it was made under a call of another. */
  readonly parent: string | null
  readonly entries: number
}

/** Makes the card of one run from its entries, one after another; of the same entries always the same card. */
export class CardFold {
  readonly #held = new HeldCalls()
  readonly #inFlight = new Set<string>()
  /** The calls of which somebody has to say what became of them. */
  readonly #unknown = new Set<string>()
  #first: Pick<JournalEntry, 'run' | 'tenant' | 'principal' | 'at'> | null = null
  #origin: RunOrigin = { project: null, runbook: null, model: null }
  #digest: string | null = null
  #mode: RunCard['mode'] = 'execute'
  #ended: RunEnd | null = null
  #endedAt: number | null = null
  #reason: string | null = null
  #paused: string | null = null
  #asks = false
  #lastAt = 0
  #calls = 0
  #denied = 0
  #tokens = 0
  #cost: number | null = 0
  #parent: string | null = null
  #entries = 0

  /** How many entries it knows. */
  get entries(): number {
    return this.#entries
  }

  get ended(): boolean {
    return this.#ended !== null
  }

  /** Takes notice of the next entry. */
  apply(entry: JournalEntry): void {
    this.#first ??= entry
    this.#entries = entry.seq
    this.#lastAt = Math.max(this.#lastAt, entry.at)
    this.#held.apply(entry)
    this.#note(entry)
  }

  /** The card at a time; null before the first entry. `name` is the playbook's, where somebody knows it. */
  card(now: number, name: string | null): RunCard | null {
    const first = this.#first
    if (first === null) return null
    const waiting = this.held(now).filter(({ state }) => state === 'waiting').length
    return {
      run: first.run,
      tenant: first.tenant,
      ...this.#origin,
      playbook: name ?? this.#digest?.slice(0, 19) ?? null,
      digest: this.#digest,
      mode: this.#mode,
      status: this.#status(waiting),
      reason: shown(this.#ended === null ? this.#paused : this.#ended === 'succeeded' ? null : this.#reason),
      startedAt: first.at,
      endedAt: this.#endedAt,
      lastAt: this.#lastAt,
      startedBy: first.principal,
      calls: this.#calls,
      denied: this.#denied,
      tokens: this.#tokens,
      cost: this.#cost,
      waiting,
      parent: this.#parent,
      entries: this.#entries,
    }
  }

  /** The digest of the run's playbook; null where the record does not say. */
  get digest(): string | null {
    return this.#digest
  }

  /** The calls that were held, as they stand at a time. */
  held(now: number): readonly HeldCall[] {
    return this.#held.at(now)
  }

  #status(waiting: number): CardStatus {
    if (this.#ended !== null) return this.#ended
    if (this.#paused !== null) return 'paused'
    const waits = waiting > 0 || this.#asks || this.#unknown.size > 0
    return waits && this.#inFlight.size === 0 ? 'waiting' : 'running'
  }

  #note({ type, at, data }: JournalEntry): void {
    switch (type) {
      case 'run.started':
        this.#digest = textOf(data['playbook'])
        this.#mode = data['mode'] === 'dry-run' ? 'dry-run' : 'execute'
        break
      case 'agent.prompted': {
        // A run can be told more than once what to do; how it came about, the first says.
        if (data['origin'] !== undefined) this.#origin = readOrigin(data)
        const { parent } = data
        if (isJsonObject(parent)) this.#parent = textOf(parent['run'])
        break
      }
      case 'tool.admitted':
        this.#calls++
        this.#inFlight.add(String(data['callId']))
        break
      case 'tool.denied':
        // A call that still waits for approval was not turned away.
        if (data['blocked'] === true && data['code'] !== 'awaiting_approval') this.#denied++
        break
      case 'tool.settled':
        this.#inFlight.delete(String(data['callId']))
        if (data['outcome'] === 'unknown') this.#unknown.add(String(data['callId']))
        else this.#unknown.delete(String(data['callId']))
        break
      case 'person.awaited':
        this.#asks = true
        break
      case 'message.received':
        this.#asks = false
        break
      case 'model.answered':
      case 'model.consulted':
        this.#spend(data, data['cost'])
        break
      case 'question.answered':
        if (isJsonObject(data['usage'])) this.#spend(data['usage'], data['usage']['cost'])
        break
      case 'agent.returned':
        this.#spend(data, data['cost'] ?? undefined)
        break
      case 'run.paused':
        this.#paused = textOf(data['reason']) ?? ''
        break
      case 'run.unpaused':
        this.#paused = null
        break
      case 'run.finished':
        this.#ended = runEnds.find((end) => end === data['status']) ?? 'incomplete'
        this.#endedAt = at
        this.#reason = textOf(data['message']) ?? this.#reason
        break
      case 'step.failed':
        this.#reason = textOf(data['error'])
        break
      default:
    }
  }

  #spend(used: JsonObject, cost: unknown): void {
    this.#tokens += countOf(used['promptTokens']) + countOf(used['completionTokens'])
    const { estimated } = used
    if (isJsonObject(estimated))
      this.#tokens +=
        countOf(estimated['promptTokens']) +
        countOf(estimated['completionTokens']) +
        countOf(estimated['tokens'])
    const known = typeof cost === 'number' && Number.isFinite(cost) ? cost : null
    this.#cost = this.#cost === null || known === null ? null : this.#cost + known
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}

const longest = 500

/** The file of the views is not encrypted, and a list needs no more than a line or two. */
function shown(reason: string | null): string | null {
  if (reason === null || reason === '') return null
  const text = redactText(reason.slice(0, 4 * longest))
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
