import type { AgentEvent } from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { ApprovalDemand, PolicyDecision } from '../policy/decision.ts'
import { describeFoundOut } from '../run/found-out.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { isDryRunResult } from '../tool/dry-run-tool.ts'
import { describeOpen, needsApproval } from './describe-open.ts'
import { timeLeft } from './describe-held-call.ts'
import { approvalId } from '../run/approval-id.ts'
import type { RunView } from './run-view.ts'

interface ShownCall {
  readonly callId: string
  readonly tool: string
  readonly args: JsonObject
  readonly step: string | null
  readonly decision: PolicyDecision | null
  /** What a dry run cannot decide about it. */
  readonly open: readonly string[]
  /** What it undoes. */
  readonly undoes: string | null
}

const mostShown = 48

/** Shows a runbook as it is carried out: a numbered line for each call, in the order in which they end. */
export class RunbookPresenter {
  readonly #playbook: Playbook
  readonly #view: RunView
  readonly #calls = new Map<string, ShownCall>()
  readonly #wide: { readonly step: number; readonly call: number }
  #run = ''
  #made = 0
  #shown = 0
  #stopped = 0

  constructor(playbook: Playbook, view: RunView) {
    this.#playbook = playbook
    this.#view = view
    this.#wide = {
      step: Math.max(8, ...playbook.steps.map(({ id }) => id.length)),
      call: Math.max(24, ...playbook.steps.map(({ tool }) => (tool?.length ?? 0) + 12)),
    }
  }

  /** How many calls were made, only shown, and stopped. */
  get counts(): { readonly made: number; readonly shown: number; readonly stopped: number } {
    return { made: this.#made, shown: this.#shown, stopped: this.#stopped }
  }

  /** Takes note of what happened before, and shows nothing of it. */
  recall(event: AgentEvent): void {
    if (event.type === 'run.started') this.#run = event.run
    if (event.type === 'tool.admitted' || event.type === 'tool.held') this.#remember(event)
  }

  /** Shows what an event means to people; many mean nothing. */
  show(event: AgentEvent): void {
    this.recall(event)
    switch (event.type) {
      case 'tool.held':
        this.#line(event.callId, this.#waits(event))
        break
      case 'tool.settled':
        this.#settled(event)
        break
      case 'tool.denied':
        if (event.code === 'awaiting_approval') return
        this.#stopped++
        this.#lineOf(event, `✗ DENIED ${event.code}: ${event.message}`)
        break
      case 'approval.voted': {
        const { person, answer, reason } = event.vote
        const said = answer === 'approve' ? 'approved' : 'denied'
        this.#line(event.callId, `${said} by ${person}${reason === null ? '' : `: ${reason}`}`)
        break
      }
      case 'approval.expired':
        this.#line(event.callId, 'was not approved in time')
        break
      case 'step.skipped':
        this.#step(event.step, `– skipped${event.reason === null ? '' : `: ${event.reason}`}`)
        break
      case 'step.failed':
        this.#step(event.step, `✗ FAILED: ${event.error}`)
        break
      case 'step.undecided':
        this.#step(event.step, `waits for a person: ${event.error}`)
        break
      case 'step.escalated':
        this.#step(event.step, `waits for a person: ${event.limit}`)
        break
      case 'compensation.begun':
        this.#view.text('   undoing what was done, the last first')
        break
      case 'cancel.requested':
        this.#view.text(
          escapeControl(`   cancelled by ${event.by}${event.reason === null ? '' : `: ${event.reason}`}`),
        )
        break
      case 'run.paused':
      case 'run.unpaused': {
        const what = event.type === 'run.paused' ? 'paused' : 'goes on,'
        this.#view.text(
          escapeControl(`   ${what} by ${event.by}${event.reason === null ? '' : `: ${event.reason}`}`),
        )
        break
      }
      default:
    }
  }

  #remember(event: Extract<AgentEvent, { type: 'tool.admitted' | 'tool.held' }>): void {
    const { callId, tool, args, step, policy } = event
    const decision = (policy?.['decision'] ?? null) as PolicyDecision | null
    const open = describeOpen(event.open, decision)
    const undoes = event.undoes ?? null
    this.#calls.set(callId, { callId, tool, args: args ?? {}, step, decision, open, undoes })
  }

  #waits({ callId, demands, expiresAt, at }: Extract<AgentEvent, { type: 'tool.held' }>): string {
    const who = rolesOf(demands as unknown as readonly ApprovalDemand[])
    const id = approvalId(this.#run, callId)
    return `waiting for ${who} · ${timeLeft(expiresAt, at)} · npx lockstep approve ${id}`
  }

  #settled(event: Extract<AgentEvent, { type: 'tool.settled' }>): void {
    const { callId, outcome, error, result, found } = event
    const call = this.#calls.get(callId)
    if (call === undefined) return
    const how = found === undefined ? '' : describeFoundOut(found, outcome)
    if (outcome !== 'succeeded') {
      this.#stopped++
      const why = error === undefined || error === '' ? '' : `: ${error}`
      this.#line(
        callId,
        how === ''
          ? `✗ ${outcome.toUpperCase()}${why}`
          : `${how}${outcome === 'unknown' ? why : ' → continuing'}`,
      )
    } else if (isDryRunResult(result)) {
      this.#shown++
      this.#line(callId, this.#would(call, result['would'] as Json | undefined))
    } else {
      this.#made++
      this.#line(callId, how === '' ? '✓' : `${how} → continuing`)
    }
  }

  /** What a dry run says of a call. */
  #would({ decision, open }: ShownCall, would: Json | undefined): string {
    const plan = isJsonObject(would) && typeof would['plan'] === 'string' ? `: ${would['plan']}` : ''
    if (open.length > 0) {
      const needs = needsApproval(decision)
      return `not decided yet: ${[...open, ...(needs === null ? [] : [`needs approval: ${needs}`])].join('; ')}`
    }
    if (decision?.verdict !== 'needs_approval') return `would run${plan}`
    const facts =
      (decision as { readonly code?: string }).code === 'policy_risk' ? 'irreversible' : decision.reason
    return `needs approval: ${rolesOf(decision.approval)} (${facts})`
  }

  #line(callId: string, text: string): void {
    const call = this.#calls.get(callId)
    if (call !== undefined) this.#lineOf(call, text)
  }

  #lineOf(
    call: {
      readonly tool: string
      readonly args: JsonObject | null
      readonly step: string | null
      readonly callId?: string | null
      readonly undoes?: string | null | undefined
    },
    text: string,
  ): void {
    const { step, tool, args } = call
    const values = Object.values(args ?? {}).map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    )
    const what = short(`${tool} ${values.join(' ')}`.trim())
    const note = (call.undoes ?? null) === null ? '' : 'undo: '
    this.#put(step, `${what.padEnd(this.#wide.call)}  ${note}${text}`)
  }

  #step(step: string, text: string): void {
    this.#put(step, text)
  }

  #put(step: string | null, text: string): void {
    const at = step === null ? null : this.#playbook.getStepIndex(step)
    const number = at === null ? ' ' : String(at + 1)
    this.#view.text(
      escapeControl(`${number.padStart(2)} ${(step ?? '').padEnd(this.#wide.step)}  ${text}`.trimEnd()),
    )
  }
}

function rolesOf(demands: readonly ApprovalDemand[]): string {
  const roles = demands.map(({ count, roles: any }) => {
    const who = any.length === 0 ? 'somebody' : any.join(' or ')
    return count === 1 ? who : `${count} × ${who}`
  })
  return [...new Set(roles)].join(' and ') || 'somebody'
}

function short(text: string): string {
  return text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`
}
