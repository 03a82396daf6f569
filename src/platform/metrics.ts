/** Figures of this process for Prometheus, in its text format. docs/reference/metrics.md names every series. */

/** Counts of one series, by its labels. */
type Counts = Map<string, number>

/** The upper bounds of the classes of the duration of a request, in seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

/** What is measured at the moment in which somebody asks. */
export interface Gauges {
  readonly approvalsWaiting: number
  readonly storeBytes: number
  readonly followers: number
  readonly runsInHand: number
  readonly deliveries: Readonly<Record<string, number>>
}

/** Counts what happens; nothing in it outlives the process. */
export class Metrics {
  readonly #started: Counts = new Map()
  readonly #finished: Counts = new Map()
  readonly #calls: Counts = new Map()
  readonly #requests: Counts = new Map()
  readonly #durations = new Map<string, { readonly classes: number[]; sum: number; count: number }>()

  /** Takes notice of what runs write down. */
  hear(
    _run: string,
    entries: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[],
  ): void {
    for (const { type, data } of entries) {
      if (type === 'run.started')
        add(this.#started, labels({ mode: data['mode'] === 'dry-run' ? 'dry-run' : 'execute' }))
      if (type === 'run.finished') add(this.#finished, labels({ status: String(data['status']) }))
      if (type === 'tool.admitted') add(this.#calls, labels({ verdict: 'allowed' }))
      if (type === 'tool.held') add(this.#calls, labels({ verdict: 'held' }))
      if (type === 'tool.denied' && data['code'] !== 'awaiting_approval')
        add(this.#calls, labels({ verdict: 'denied' }))
    }
  }

  /** Counts a request by the path of its route, never by what somebody put into the address. */
  request(method: string, route: string, status: number, seconds: number): void {
    add(this.#requests, labels({ method, route, status: `${Math.floor(status / 100)}xx` }))
    const key = labels({ route })
    const known = this.#durations.get(key) ?? { classes: bounds.map(() => 0), sum: 0, count: 0 }
    this.#durations.set(key, known)
    for (const [index, bound] of bounds.entries()) if (seconds <= bound) known.classes[index]!++
    known.sum += seconds
    known.count++
  }

  /** All of it as text. */
  render({ approvalsWaiting, storeBytes, followers, runsInHand, deliveries }: Gauges): string {
    return [
      ...series('lockstep_runs_started_total', 'counter', 'Runs that were begun, by mode.', this.#started),
      ...series('lockstep_runs_finished_total', 'counter', 'Runs that ended, by how.', this.#finished),
      ...series('lockstep_calls_total', 'counter', 'Calls by what the gate said.', this.#calls),
      ...gauge('lockstep_runs_in_hand', 'Runs that the engines have in hand.', runsInHand),
      ...gauge('lockstep_approvals_waiting', 'Calls that wait for approval.', approvalsWaiting),
      ...gauge('lockstep_event_followers', 'Who follows a run at this moment.', followers),
      ...gauge('lockstep_store_bytes', 'The size of the store.', storeBytes),
      ...series(
        'lockstep_webhook_deliveries',
        'gauge',
        'Deliveries to webhooks by state.',
        new Map(Object.entries(deliveries).map(([state, count]) => [labels({ state }), count])),
      ),
      ...series(
        'lockstep_http_requests_total',
        'counter',
        'Requests by route and class of status.',
        this.#requests,
      ),
      ...this.#histogram(),
      '',
    ].join('\n')
  }

  #histogram(): string[] {
    const name = 'lockstep_http_request_duration_seconds'
    const lines = [`# HELP ${name} How long requests took.`, `# TYPE ${name} histogram`]
    for (const [key, { classes, sum, count }] of this.#durations) {
      const inner = key.slice(1, -1)
      for (const [index, bound] of bounds.entries())
        lines.push(`${name}_bucket{${inner},le="${bound}"} ${classes[index]}`)
      lines.push(`${name}_bucket{${inner},le="+Inf"} ${count}`)
      lines.push(`${name}_sum${key} ${sum}`, `${name}_count${key} ${count}`)
    }
    return lines
  }
}

function add(counts: Counts, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function labels(values: Readonly<Record<string, string>>): string {
  const parts = Object.entries(values).map(
    ([name, value]) =>
      `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  )
  return `{${parts.join(',')}}`
}

function series(name: string, type: 'counter' | 'gauge', help: string, counts: Counts): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...Array.from(counts, ([key, count]) => `${name}${key} ${count}`),
  ]
}

function gauge(name: string, help: string, value: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${value}`]
}
