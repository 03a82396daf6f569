import type { AgentEvent, EngineClient, JournalEntry } from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { JsonObject } from '../shared/json.ts'
import { type ExitCode, exitCode } from './exit-code.ts'
import { heldCalls } from '../overview/held-call.ts'
import { RunbookPresenter } from './runbook-presenter.ts'
import { RunPresenter } from './run-presenter.ts'
import { RunView } from './run-view.ts'
import type { Terminal } from './terminal.ts'

/** How a run is followed. */
export interface FollowOptions {
  readonly run: string
  readonly playbook: Playbook | null
  readonly from: number
  readonly json: boolean
  readonly terminal: Terminal
  readonly signal: AbortSignal
  /** Stops when the run waits for people, instead of waiting with it. */
  readonly untilHeld: boolean
  /** With `json`, tells it as `lockstep run` does: the mode first, events, the result last. Otherwise entries. */
  readonly asRun?: boolean
}

/** Shows a run from its entries as they come, until it has ended, waits for people, or nobody wants to know more; the exit code says which. */
export async function followRun(
  source: Pick<EngineClient, 'tail'>,
  options: FollowOptions,
): Promise<ExitCode> {
  const { run, playbook, from, json, terminal, untilHeld, asRun = false } = options
  const line = (value: object) => terminal.out(`${JSON.stringify(redactObject(value as JsonObject))}\n`)
  // Only runs that are carried out are worked on for others.
  if (json && asRun) line({ type: 'run.mode', mode: 'execute', run })
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const view = new RunView({
    write: (text) => terminal.out(redactText(text)),
    live: false,
    colour: terminal.colour,
  })
  const presenter =
    playbook === null
      ? null
      : playbook.steps.every(({ tool }) => tool !== null)
        ? new RunbookPresenter(playbook, view)
        : new RunPresenter(playbook, view)
  const seen: JournalEntry[] = []
  let ended: JsonObject | null = null
  const waits = () =>
    heldCalls(seen, Date.now()).filter(({ state }) => state === 'waiting').length > 0 && openCalls(seen) === 0
  for await (const entry of source.tail(run, 1, signal)) {
    seen.push(entry)
    if (entry.type === 'run.finished') ended = entry.data
    const event = { ...entry.data, type: entry.type, at: entry.at } as unknown as AgentEvent
    if (json && entry.seq >= from) {
      if (asRun) line(event)
      else terminal.out(`${JSON.stringify({ ...entry, data: redactObject(entry.data) })}\n`)
    }
    if (!json && entry.seq >= from) presenter?.show(event)
    else presenter?.recall(event)
    if (untilHeld && ended === null && waits()) stop.abort()
  }
  const status = ended === null ? 'goes on' : String(ended['status'])
  const waiting = heldCalls(seen, Date.now()).filter(({ state }) => state === 'waiting')
  if (json && asRun) {
    const result = String(ended?.['status'] ?? 'incomplete')
    const reason = result === 'succeeded' ? null : (ended?.['message'] ?? null)
    const next = nextOf(
      run,
      waiting.map(({ id }) => id),
      ended,
    )
    const approvals = waiting.length === 0 ? {} : { approvals: waiting }
    line({ type: 'run.result', status: result, ended: ended !== null, reason, run, next, ...approvals })
  }
  if (!json)
    tellEnd(
      status,
      run,
      waiting.map(({ id }) => id),
      ended,
      terminal,
    )
  if (ended !== null) return ended['status'] === 'succeeded' ? exitCode.done : exitCode.failed
  return waiting.length > 0 ? exitCode.waitsForApproval : exitCode.done
}

function tellEnd(
  status: string,
  run: string,
  waiting: readonly string[],
  ended: JsonObject | null,
  terminal: Terminal,
): void {
  const why =
    typeof ended?.['message'] === 'string' && ended['status'] !== 'succeeded' ? `: ${ended['message']}` : ''
  const next = nextOf(run, waiting, ended)
  terminal.out(`${escapeControl(redactText(`${status}${why} · run ${run}`))}\nNext: ${next}\n`)
}

function nextOf(run: string, waiting: readonly string[], ended: JsonObject | null): string {
  if (ended !== null) return `npx lockstep show ${run}`
  if (waiting.length > 0) return waiting.map((id) => `npx lockstep approve ${id}`).join(', ')
  return `npx lockstep tail ${run}`
}

/** How many calls are under way. */
function openCalls(entries: readonly JournalEntry[]): number {
  const open = new Set<unknown>()
  for (const { type, data } of entries) {
    if (type === 'tool.admitted') open.add(data['callId'])
    if (type === 'tool.settled') open.delete(data['callId'])
  }
  return open.size
}
