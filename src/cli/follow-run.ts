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
  /** Calls that were settled just now, though the record may show them as unknown for a while. */
  readonly settled?: readonly string[]
  /** With `json`, tells it as `lockstep run` does: the mode first, events, the result last. Otherwise entries. */
  readonly asRun?: boolean
}

/** Shows a run from its entries as they come, until it has ended, waits for people, or nobody wants to know more; the exit code says which. */
export async function followRun(
  source: Pick<EngineClient, 'tail'>,
  options: FollowOptions,
): Promise<ExitCode> {
  const { run, playbook, from, json, terminal, untilHeld, settled = [], asRun = false } = options
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
  const lost = () => unknownCalls(seen).filter((call) => !settled.includes(call))
  const waits = () =>
    (heldCalls(seen, Date.now()).some(({ state }) => state === 'waiting') || lost().length > 0) &&
    openCalls(seen) === 0
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
    // Who stays is told as it comes; the others at the end.
    else if (!json && isUnknown(entry) && lost().length > 0)
      terminal.out(`${escapeControl(`${describeLost(lost())} Next: ${nextOfLost(run, lost())}`)}\n`)
  }
  const waiting = heldCalls(seen, Date.now()).filter(({ state }) => state === 'waiting')
  const unknown = ended === null ? lost() : []
  const ids = waiting.map(({ id }) => id)
  const next = ids.length === 0 && unknown.length > 0 ? nextOfLost(run, unknown) : nextOf(run, ids, ended)
  const why = unknown.length > 0 ? describeLost(unknown) : null
  if (json && asRun) {
    const result = String(ended?.['status'] ?? 'incomplete')
    const reason = result === 'succeeded' ? null : (ended?.['message'] ?? why)
    const approvals = waiting.length === 0 ? {} : { approvals: waiting }
    line({ type: 'run.result', status: result, ended: ended !== null, reason, run, next, ...approvals })
  }
  if (!json) tellEnd(run, { ended, why, next }, terminal)
  if (ended !== null) return ended['status'] === 'succeeded' ? exitCode.done : exitCode.failed
  if (waiting.length > 0) return exitCode.waitsForApproval
  return unknown.length > 0 ? exitCode.failed : exitCode.done
}

function tellEnd(
  run: string,
  {
    ended,
    why,
    next,
  }: { readonly ended: JsonObject | null; readonly why: string | null; readonly next: string },
  terminal: Terminal,
): void {
  const status = ended === null ? (why === null ? 'goes on' : 'waits') : String(ended['status'])
  const message = typeof ended?.['message'] === 'string' && status !== 'succeeded' ? ended['message'] : why
  const reason = message === null ? '' : `: ${message}`
  terminal.out(
    `${escapeControl(redactText(`${status}${reason} · run ${run}`))}\nNext: ${escapeControl(next)}\n`,
  )
}

function nextOf(run: string, waiting: readonly string[], ended: JsonObject | null): string {
  if (ended !== null) return `npx lockstep show ${run}`
  if (waiting.length > 0) return waiting.map((id) => `npx lockstep approve ${id}`).join(', ')
  return `npx lockstep tail ${run}`
}

/** The calls of which somebody has to say what became of them. */
function unknownCalls(entries: readonly JournalEntry[]): readonly string[] {
  const unknown = new Set<string>()
  for (const entry of entries) {
    if (isUnknown(entry)) unknown.add(String(entry.data['callId']))
    else if (entry.type === 'tool.settled') unknown.delete(String(entry.data['callId']))
  }
  return [...unknown]
}

function isUnknown({ type, data }: JournalEntry): boolean {
  return type === 'tool.settled' && data['outcome'] === 'unknown'
}

function describeLost(calls: readonly string[]): string {
  return `nobody knows what became of ${calls.join(', ')}: a person has to settle it.`
}

function nextOfLost(run: string, [call]: readonly string[]): string {
  return `npx lockstep resume ${run} --settle ${call}=succeeded (or ${call}=failed if nothing was applied)`
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
