import type { AgentEvent, EngineClient, JournalEntry } from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { JsonObject } from '../shared/json.ts'
import { type ExitCode, exitCode } from './exit-code.ts'
import { heldCalls } from './held-call.ts'
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
}

/** Shows a run from its entries as they come, until it has ended, waits for people, or nobody wants to know more; the exit code says which. */
export async function followRun(
  source: Pick<EngineClient, 'tail'>,
  options: FollowOptions,
): Promise<ExitCode> {
  const { run, playbook, from, json, terminal, untilHeld } = options
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
    if (json && entry.seq >= from)
      terminal.out(`${JSON.stringify({ ...entry, data: redactObject(entry.data) })}\n`)
    const event = { ...entry.data, type: entry.type, at: entry.at } as unknown as AgentEvent
    if (!json && entry.seq >= from) presenter?.show(event)
    else presenter?.recall(event)
    if (untilHeld && ended === null && waits()) stop.abort()
  }
  const status = ended === null ? 'goes on' : String(ended['status'])
  const waiting = heldCalls(seen, Date.now()).filter(({ state }) => state === 'waiting')
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
  const next =
    ended !== null
      ? `npx lockstep show ${run}`
      : waiting.length > 0
        ? waiting.map((id) => `npx lockstep approve ${id}`).join(', ')
        : `npx lockstep tail ${run}`
  terminal.out(`${escapeControl(redactText(`${status}${why} · run ${run}`))}\nNext: ${next}\n`)
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
