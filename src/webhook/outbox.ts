/**
 * Tells other systems what happened.
 *
 * Owns: the file of deliveries, and the timer of the next attempt.
 * Talks to: the store, which it only reads; receivers.
 *
 * Invariants
 * O1  What happened follows from the journal. How far it was read is written down in the commit that holds what was found there, so that nothing is left out over a restart.
 * O2  A receiver is told of the same event under the same id, however often; at least once, and in most cases once.
 * O3  A receiver that does not take it is asked again, later and later, for a day; then it is given up. One receiver does not hold up another.
 * O4  What happened before a webhook was made is not sent to it.
 */
import type { ChainStore } from '../journal/chain-store.ts'
import type { JournalEntry } from '../journal/journal.ts'
import type { StoreMark } from '../journal/store-changes.ts'
import { digest } from '../shared/digest.ts'
import { DeliveryRows, type Delivery, type DueDelivery } from './delivery-rows.ts'
import { eventsOfRun, testEvent, type WebhookEvent } from './event.ts'
import { eventBody, type BodyContext, type BodyTemplate } from './event-body.ts'
import { postBody, type PostLimits } from './post-body.ts'
import { signBody } from './signature.ts'

/** A receiver as it is now. */
export interface WebhookTarget {
  readonly id: string
  readonly tenant: string
  readonly url: string
  readonly events: readonly string[]
  readonly template: BodyTemplate
  readonly active: boolean
  readonly createdAt: number
}

/** What an outbox is made of. */
export interface OutboxOptions {
  /** The file, or `:memory:`. */
  readonly path: string
  readonly store: Pick<ChainStore, 'read' | 'changesSince'>
  /** The receivers of a tenant. */
  readonly targets: (tenant: string) => readonly WebhookTarget[]
  /** Whether any tenant has one: otherwise no record is read. */
  readonly hasTargets: () => boolean
  /** The secret of a receiver; null if it is no more. */
  readonly secretOf: (tenant: string, webhook: string) => string | null
  /** What people call a run's playbook, and its project. */
  readonly about: (tenant: string, run: string) => Promise<Pick<BodyContext, 'playbook' | 'project'>>
  /** Where people reach the server. */
  readonly url: () => string
  readonly limits: PostLimits
  readonly now?: () => number
  /** How often it is looked whether something was written, in milliseconds. */
  readonly everyMs?: number
  readonly onTrouble?: (error: unknown) => void
}

const day = 86_400_000
/** How long a delivery is tried (O3), and how long what was settled is kept. */
const triedMs = day
const keptMs = 30 * day
/** How many requests are under way at once. */
const together = 8
const changesAtOnce = 1000
const told: ReadonlySet<string> = new Set(['tool.held', 'approval.voted', 'approval.expired', 'run.finished'])

/** Deliveries to other systems, made from the journal and tried until they are taken. */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #rows: DeliveryRows
  readonly #now: () => number
  readonly #underWay = new Map<string, Promise<void>>()
  #mark: StoreMark | null
  #timer: NodeJS.Timeout | undefined
  #collecting: Promise<void> = Promise.resolve()
  #closed = false

  private constructor(options: OutboxOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#rows = new DeliveryRows(options.path)
    this.#mark = readMark(this.#rows)
  }

  /** Opens the deliveries, and goes on with what was not sent. In a new file what is in the store already counts as told. */
  static async open(options: OutboxOptions): Promise<Outbox> {
    const outbox = new Outbox(options)
    if (outbox.#mark === null) await outbox.#skip()
    outbox.#rows.forgetBefore(outbox.#now() - keptMs)
    outbox.#again(0)
    return outbox
  }

  /** Takes notice that a run has gone on. */
  hear(_run: string, entries: readonly Pick<JournalEntry, 'type'>[]): void {
    if (entries.some(({ type }) => told.has(type)) && this.#options.hasTargets()) this.#again(0)
  }

  /** Sends a trial to a receiver. */
  test(target: WebhookTarget): Delivery {
    const event = testEvent(target.id, this.#now(), String(this.#rows.counts().delivered + Math.random()))
    const id = this.#add(target, event, { playbook: null, project: null })
    this.#again(0)
    return this.#rows.get(id)!
  }

  /** What was sent to a receiver, the newest first. */
  list(
    tenant: string,
    webhook: string,
    page: { readonly cursor: number | null; readonly limit: number },
  ): ReturnType<DeliveryRows['list']> {
    return this.#rows.list(tenant, webhook, page)
  }

  /** How many deliveries there are in each state. */
  counts(): ReturnType<DeliveryRows['counts']> {
    return this.#rows.counts()
  }

  /** Ends it; what is under way is waited for. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#collecting
    await Promise.allSettled(this.#underWay.values())
    this.#rows.close()
  }

  #again(ms: number): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#collecting = this.#collecting.then(() => this.#turn())
    }, ms).unref()
  }

  async #turn(): Promise<void> {
    if (this.#closed) return
    try {
      await this.#collect()
      if (!this.#closed) this.#send()
    } catch (error) {
      this.#options.onTrouble?.(error)
    }
    const { everyMs = 1000 } = this.#options
    const next = this.#closed ? null : this.#rows.nextAt()
    const due = next === null ? everyMs : Math.max(10, next - this.#now())
    this.#again(Math.min(everyMs, due))
  }

  /** O1: reads on in the store. */
  async #collect(): Promise<void> {
    for (let more = true; more && !this.#closed;) {
      const changes = await this.#options.store.changesSince(this.#mark, changesAtOnce)
      if (!changes.follows) {
        // Another store lies there now: what it holds was not heard by anybody.
        this.#mark = null
        return await this.#skip()
      }
      const found: (() => void)[] = []
      if (this.#options.hasTargets())
        for (const { run, erased } of changes.runs) if (!erased) found.push(...(await this.#found(run)))
      this.#rows.together(() => {
        for (const add of found) add()
        if (changes.mark !== null) this.#rows.write('mark', JSON.stringify(changes.mark))
      })
      this.#mark = changes.mark
      more = changes.more
    }
  }

  async #found(run: string): Promise<(() => void)[]> {
    let entries: readonly JournalEntry[]
    try {
      entries = await this.#options.store.read(run)
    } catch (error) {
      this.#options.onTrouble?.(error)
      return []
    }
    const [first] = entries
    if (first === undefined) return []
    const { tenant } = first
    const targets = this.#options.targets(tenant).filter(({ active }) => active)
    const oldest = this.#now() - triedMs
    const wanted = eventsOfRun(entries).flatMap((event) =>
      targets
        .filter(({ events, createdAt }) => events.includes(event.type) && event.at >= createdAt)
        .filter(() => event.at >= oldest)
        .map((target) => ({ target, event })),
    )
    if (wanted.length === 0) return []
    const about = await this.#options.about(tenant, run)
    return wanted.map(
      ({ target, event }) =>
        () =>
          void this.#add(target, event, about),
    )
  }

  #add(target: WebhookTarget, event: WebhookEvent, about: Pick<BodyContext, 'playbook' | 'project'>): string {
    const { id: webhook, tenant, template } = target
    const id = `dlv_${digest(`${webhook}/${event.id}`).slice('sha256:'.length, 'sha256:'.length + 24)}`
    const body = eventBody(event, template, { ...about, tenant, url: this.#options.url() })
    const { type, subject, at } = event
    this.#rows.add({ id, tenant, webhook, event: type, subject, at, body }, this.#now())
    return id
  }

  async #skip(): Promise<void> {
    for (let more = true; more;) {
      const changes = await this.#options.store.changesSince(this.#mark, changesAtOnce * 10)
      this.#mark = changes.mark
      more = changes.more
    }
    this.#rows.write('mark', JSON.stringify(this.#mark))
  }

  #send(): void {
    for (const delivery of this.#rows.due(this.#now(), together * 4)) {
      if (this.#underWay.size >= together) return
      if (this.#underWay.has(delivery.id)) continue
      const sending = this.#attempt(delivery)
        .catch((error: unknown) => this.#options.onTrouble?.(error))
        .finally(() => {
          this.#underWay.delete(delivery.id)
          this.#again(0)
        })
      this.#underWay.set(delivery.id, sending)
    }
  }

  async #attempt({ id, tenant, webhook, event, at, body, attempts }: DueDelivery): Promise<void> {
    const target = this.#options.targets(tenant).find((each) => each.id === webhook)
    const secret = this.#options.secretOf(tenant, webhook)
    if (target === undefined || secret === null || !target.active) {
      const error = 'the webhook was removed or switched off'
      this.#rows.settle(id, { state: 'failed', status: null, error, nextAt: null })
      return
    }
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Lockstep-Webhook/1',
      'lockstep-event': event,
      'lockstep-delivery': id,
      'lockstep-signature': signBody(body, secret, this.#now()),
    }
    const { status, error } = await postBody(target.url, body, headers, this.#options.limits)
    const over = this.#now() - at >= triedMs || status === 410
    const nextAt = error === null || over ? null : this.#now() + waitAfter(attempts + 1)
    const state = error === null ? 'delivered' : over ? 'failed' : 'pending'
    this.#rows.settle(id, { state, status, error, nextAt })
  }
}

/** How long is waited after so many attempts: 5 seconds, then twice as long each time, up to an hour. */
export function waitAfter(attempts: number): number {
  return Math.min(3_600_000, 5000 * 2 ** (attempts - 1))
}

function readMark(rows: DeliveryRows): StoreMark | null {
  const text = rows.read('mark')
  return text === null ? null : (JSON.parse(text) as StoreMark | null)
}
