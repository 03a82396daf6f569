import type { AgentEvent } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { describeFoundOut } from '../run/found-out.ts'
import type { PolicyDecision } from '../policy/decision.ts'
import type { StepStatus } from '../run/step-status.ts'
import type { JsonObject } from '../shared/json.ts'
import { isDryRunResult } from '../tool/dry-run-tool.ts'
import { describeOpen, needsApproval } from './describe-open.ts'
import { guideLink } from './guide-link.ts'
import type { RunView } from './run-view.ts'

/** Shows a run as it happens, from its events alone. */
export class RunPresenter {
  readonly #view: RunView
  readonly #playbook: Playbook
  readonly #statuses: Map<string, StepStatus>
  readonly #calls = new Map<
    string,
    { tool: string; args: JsonObject; step: string | null; needs: string | null; open: readonly string[] }
  >()
  readonly #linked = new Set<string>()
  #made = 0
  #shown = 0
  #stopped = 0

  constructor(playbook: Playbook, view: RunView) {
    this.#playbook = playbook
    this.#view = view
    this.#statuses = new Map(playbook.steps.map(({ id }) => [id, 'pending']))
  }

  /** How many calls were made, only shown, and stopped. */
  get counts(): { readonly made: number; readonly shown: number; readonly stopped: number } {
    return { made: this.#made, shown: this.#shown, stopped: this.#stopped }
  }

  /** Takes note of what happened before, and shows nothing of it. */
  recall(event: AgentEvent): void {
    if (event.type === 'tool.admitted' || event.type === 'tool.held') this.#remember(event)
    const status = statusAfter(event)
    if (status !== null) this.#statuses.set(status.step, status.status)
  }

  /** Shows what an event means to people; many mean nothing. */
  show(event: AgentEvent): void {
    const status = statusAfter(event)
    if (status !== null) this.#statuses.set(status.step, status.status)
    switch (event.type) {
      case 'tool.admitted':
        this.#remember(event)
        return
      case 'tool.held':
        this.#remember(event)
        this.#view.stopped(
          event.tool,
          event.args ?? {},
          'WAITS FOR APPROVAL:',
          this.#calls.get(event.callId)!.needs ?? event.message,
        )
        break
      case 'tool.settled':
        this.#settled(event)
        break
      case 'tool.denied':
        // Told when it was held, and again where the run ends.
        if (event.code === 'awaiting_approval') return
        this.#stopped++
        this.#view.stopped(
          event.tool,
          event.args ?? {},
          `DENIED ${event.code}:`,
          this.#explained(event.message, event.code),
        )
        break
      case 'finish.refused':
        this.#stopped++
        this.#view.stopped(
          'final answer',
          {},
          'SENT BACK:',
          this.#explained(remain([...event.remaining, ...event.unsettled]), 'finish_refused'),
        )
        break
      case 'step.failed':
        this.#view.stopped('step', { id: event.step }, 'FAILED:', event.error)
        break
      case 'step.escalated':
        this.#view.stopped('step', { id: event.step }, 'WAITS FOR A PERSON:', event.limit)
        break
      case 'step.undecided':
        this.#view.stopped('step', { id: event.step }, 'WAITS FOR A PERSON:', event.error)
        break
      default:
        if (status === null) return
    }
    this.#steps()
  }

  #remember(event: Extract<AgentEvent, { type: 'tool.admitted' | 'tool.held' }>): void {
    const { tool, args, step, policy } = event
    const decision = policy?.['decision'] as PolicyDecision | undefined
    const needs = needsApproval(decision)
    const open = describeOpen(event.open, decision)
    this.#calls.set(event.callId, { tool, args: args ?? {}, step, needs, open })
  }

  /** Says once in a run where the guide explains a refusal; the second time it would only be in the way. */
  #explained(message: string, code: string): string {
    const link = guideLink(code)
    if (link === null || this.#linked.has(link)) return message
    this.#linked.add(link)
    return `${message} (${link})`
  }

  #settled(event: Extract<AgentEvent, { type: 'tool.settled' }>): void {
    const call = this.#calls.get(event.callId)
    if (call === undefined) return
    if (event.outcome !== 'succeeded') {
      this.#stopped++
      this.#view.stopped(call.tool, call.args, `${event.outcome.toUpperCase()}:`, event.error ?? '')
      this.#found(event)
      return
    }
    const at = call.step === null ? null : this.#playbook.getStepIndex(call.step)
    const step = at === null ? 'extra' : `step ${at + 1}/${this.#playbook.steps.length} ${call.step}`
    if (!isDryRunResult(event.result)) {
      this.#made++
      this.#view.passed(call.tool, call.args, step)
      this.#found(event)
      return
    }
    this.#shown++
    this.#view.shown(call.tool, call.args, `not called · ${step}`)
    if (call.needs !== null) this.#view.text(escapeControl(`     would need approval: ${call.needs}`))
    for (const open of call.open) this.#view.text(escapeControl(`     not decided yet: ${open}`))
    const { would } = event.result
    if (typeof would === 'object' && would !== null && !('tool' in would)) {
      this.#view.text(escapeControl(`     would: ${JSON.stringify(would)}`))
    }
  }

  /** How it became known what became of a call, where that was unknown. */
  #found({ found, outcome }: Extract<AgentEvent, { type: 'tool.settled' }>): void {
    if (found !== undefined) this.#view.text(escapeControl(`     ${describeFoundOut(found, outcome)}`))
  }

  #steps(): void {
    let due = true
    const steps = this.#playbook.steps.map(({ id }) => {
      const status = this.#statuses.get(id)!
      const first: boolean = due && status === 'in_progress'
      if (first) due = false
      return { id, status, due: first }
    })
    const over = steps.filter(({ status }) => status === 'completed' || status === 'skipped').length
    this.#view.steps(steps, steps.length === 0 ? 1 : over / steps.length)
  }
}

/** What an event makes of a step; null for one that is about something else. */
function statusAfter(event: AgentEvent): { readonly step: string; readonly status: StepStatus } | null {
  switch (event.type) {
    case 'step.opened':
    case 'step.retried':
      return { step: event.step, status: 'in_progress' }
    case 'step.completed':
      return { step: event.step, status: 'completed' }
    case 'step.skipped':
      return { step: event.step, status: 'skipped' }
    case 'step.failed':
      return { step: event.step, status: 'failed' }
    default:
      return null
  }
}

function remain(left: readonly string[]): string {
  return `${left.map((each) => `"${each}"`).join(', ')} ${left.length === 1 ? 'remains' : 'remain'}`
}
