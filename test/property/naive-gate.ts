/**
 * The rules of docs/reference/enforcement.md a second time, written from that page alone: slow and plain, one flat list of calls,
 * everything else worked out anew whenever it is asked for. It shares no code with `src/run`; where the two disagree,
 * the page says who is wrong.
 */
import type { Json, JsonObject } from '../../src/shared/json.ts'
import type { Template, View } from './condition-template.ts'
import type { Before, NaiveOptions, NaivePlaybook, NaiveStep } from './naive-playbook.ts'
import {
  type Call,
  freshStanding,
  isOpen,
  type NaiveState,
  type Outcome,
  type Phase,
  type Proposal,
  type Status,
} from './naive-state.ts'

interface Verdict {
  readonly code: string | null
  readonly owner: number | null
  readonly passed: readonly number[]
}

/** One run, judged the slow way. */
export class NaiveGate {
  readonly playbook: NaivePlaybook
  readonly options: NaiveOptions
  state: NaiveState

  constructor(playbook: NaivePlaybook, options: NaiveOptions, now: number) {
    this.playbook = playbook
    this.options = options
    this.state = {
      now,
      ended: null,
      iterations: 0,
      finishRefusals: 0,
      settlements: 0,
      steps: playbook.steps.map(() => freshStanding(1)),
      calls: [],
      violations: [],
    }
    this.settleDown()
  }

  /** A second run in the same state. */
  fork(): NaiveGate {
    const copy = new NaiveGate(this.playbook, this.options, this.state.now)
    copy.state = structuredClone(this.state)
    return copy
  }

  // What is asked of a run

  met(index: number): boolean {
    const { status } = this.state.steps[index]!
    if (status === 'completed' || status === 'skipped') return true
    return status === 'failed' && !this.playbook.steps[index]!.required
  }

  get complete(): boolean {
    return this.state.steps.every((_, index) => this.met(index)) && !this.state.calls.some(isOpen)
  }

  get current(): number | null {
    const { steps } = this.state
    const due = steps.findIndex(({ phase }) => ['open', 'undecided', 'escalated'].includes(phase))
    if (due !== -1) return due
    const failed = steps.findIndex((_, index) => this.hasFailed(index))
    return failed === -1 ? null : failed
  }

  get progress(): number {
    const { steps } = this.state
    const done = steps.filter(({ status }) => status === 'completed' || status === 'skipped').length
    return steps.length === 0 ? 1 : done / steps.length
  }

  get stopped(): boolean {
    return this.state.steps.some((_, index) => this.hasFailed(index))
  }

  get paused(): boolean {
    return this.state.steps.some(({ phase }) => phase === 'undecided' || phase === 'escalated')
  }

  /** The calls of a step's current visit. */
  callsOf(index: number): Call[] {
    const { visit } = this.state.steps[index]!
    return this.state.calls.filter((call) => call.step === index && call.visit === visit)
  }

  /** Slots of a step that are taken. */
  used(index: number): number {
    return this.callsOf(index).filter((call) => call.state !== 'not_executed').length
  }

  /** Extras that were let through. */
  get usedExtras(): number {
    return this.state.calls.filter((call) => call.extra && call.state !== 'not_executed').length
  }

  // What a run is told

  passTime(now: number): void {
    const ticking = !this.stopped && !this.paused && this.state.ended === null
    for (const [index, standing] of this.state.steps.entries()) {
      if (ticking && standing.active && !this.isDone(index) && !this.heldBack(index))
        standing.spent += now - this.state.now
    }
    this.state.now = now
    this.settleDown()
  }

  /** Judges a call; `id` names it if it is let through and has no id of its own. */
  call(proposal: Proposal, id: string): { allowed: boolean; code: string | null } {
    const { tool } = proposal
    const hard = this.#refuseOutright(proposal)
    if (hard !== null) {
      this.state.violations.push({ code: hard, blocked: true })
      return { allowed: false, code: hard }
    }
    const args = (proposal.args ?? null) as JsonObject | null
    const { code, owner, passed } = this.judge(tool, args)
    const { enforced } = this.options
    if (code !== null) this.state.violations.push({ code, blocked: enforced })
    if (code !== null && enforced) return { allowed: false, code }
    for (const index of passed) this.#close(index, 'skipped')
    const step = code === null ? owner : this.#observedOwner(tool)
    this.#admit(proposal.callId ?? id, tool, args, step, code === null)
    this.settleDown()
    return { allowed: true, code }
  }

  record(tool: string, callId: string | null, outcome: Outcome, result: Json | undefined): void {
    const { state } = this
    const settleable = state.calls.filter((call) => call.tool === tool && isOpen(call))
    const found =
      callId === null
        ? (settleable.find((call) => call.state === 'open') ?? settleable[0])
        : settleable.find((call) => call.id === callId)
    if (found === undefined) {
      state.violations.push({ code: 'unadmitted_call', blocked: false })
      return
    }
    found.state = outcome
    found.settled = ++state.settlements
    found.result = result
    this.settleDown()
  }

  /** Completes a step on somebody's word; false if that is refused. */
  declare(index: number, by: 'host' | 'model', result: string | null): boolean {
    const standing = this.state.steps[index]!
    const phases = by === 'host' ? ['open', 'undecided', 'escalated'] : ['open']
    if (this.state.ended !== null || !phases.includes(standing.phase)) return false
    if (this.#openCalls(index) > 0 || !this.#canBeCalled(index) || !this.#validationHolds(index)) return false
    if (by === 'model' && !this.#onlyDeclarationMissing(index)) return false
    standing.result = result
    this.#close(index, 'completed')
    this.settleDown()
    return true
  }

  skip(index: number): boolean {
    const { phase } = this.state.steps[index]!
    if (this.state.ended !== null || this.playbook.steps[index]!.required) return false
    if (!['open', 'undecided', 'escalated'].includes(phase) || this.#openCalls(index) > 0) return false
    if (!this.#canBeCalled(index)) return false
    this.#close(index, 'skipped')
    this.settleDown()
    return true
  }

  fail(index: number): boolean {
    const { phase } = this.state.steps[index]!
    if (this.state.ended !== null || !['open', 'undecided', 'escalated'].includes(phase)) return false
    this.#close(index, 'failed')
    this.settleDown()
    return true
  }

  retry(index: number): boolean {
    const { status, phase, visit } = this.state.steps[index]!
    if (this.state.ended !== null || this.#openCalls(index) > 0) return false
    if (status !== 'failed' && phase !== 'escalated' && phase !== 'undecided') return false
    const begun = this.state.steps.some(
      (later, at) => this.comesBefore(index, at) && later.status !== 'pending',
    )
    if (this.met(index) && begun) return false
    const again = freshStanding(visit + 1)
    this.state.steps[index] = again
    if (phase !== 'undecided') this.#open(index)
    this.settleDown()
    return true
  }

  /** Counts a turn; false if it may not begin. */
  iterate(): boolean {
    if (this.state.ended !== null || this.stopped || this.paused) return false
    const { maxIterations } = this.playbook
    if (maxIterations === null || this.state.iterations < maxIterations) {
      this.state.iterations++
      return true
    }
    const { current } = this
    if (current === null) {
      this.state.iterations++
      return true
    }
    if (this.state.steps[current]!.phase === 'open') {
      if (this.playbook.steps[current]!.onLimit === 'escalate') this.state.steps[current]!.phase = 'escalated'
      else this.#close(current, 'failed')
      this.settleDown()
    }
    return false
  }

  /** Hands in the final answer. */
  finish(): void {
    const { state, playbook } = this
    if (state.ended !== null) return
    if (this.stopped) {
      state.ended = 'failed'
      return
    }
    const left = playbook.steps.flatMap((step, index) => (step.required && !this.met(index) ? [index] : []))
    const last = left[0]
    if (left.length === 1 && last !== undefined && !state.calls.some(isOpen) && !this.paused) {
      const { tools } = playbook.steps[last]!
      const { phase } = state.steps[last]!
      const passed = phase === 'open' ? [] : phase === 'waiting' ? this.passesFor(last) : null
      if (tools.length === 0 && passed !== null && this.#onlyDeclarationMissing(last)) {
        for (const index of passed) this.#close(index, 'skipped')
        this.#close(last, 'completed')
        left.pop()
      }
    }
    if (left.length === 0 && !state.calls.some(isOpen) && !this.paused) {
      for (const index of state.steps.keys()) if (!this.met(index)) this.#close(index, 'skipped')
      state.ended = 'succeeded'
      return
    }
    state.finishRefusals++
    if (state.finishRefusals > this.options.finishAttempts) state.ended = 'incomplete'
  }

  // Order

  comesBefore(earlier: number, later: number): boolean {
    const ids = (before: Before): string[] =>
      typeof before === 'string' ? [before] : membersOf(before).flatMap(ids)
    const direct = ids(this.playbook.steps[later]!.before).map((id) => this.#indexOf(id))
    return direct.some((index) => index === earlier || this.comesBefore(earlier, index))
  }

  beforeIsMet(index: number): boolean {
    return this.#isMet(this.playbook.steps[index]!.before)
  }

  /** A step before it, however far, was complete and has taken another call. */
  heldBack(index: number): boolean {
    return this.state.steps.some(({ reopened }, at) => reopened && this.comesBefore(at, index))
  }

  #canBeCalled(index: number): boolean {
    return this.beforeIsMet(index) && !this.heldBack(index)
  }

  #isMet(before: Before): boolean {
    if (typeof before === 'string') return this.met(this.#indexOf(before))
    if ('any' in before) return before.any.some((each) => this.#isMet(each))
    return before.all.every((each) => this.#isMet(each))
  }

  /** The steps that a call of a waiting step would pass over, or null if it cannot be reached. */
  passesFor(index: number): number[] | null {
    const clear = (before: Before): number[] | null => {
      if (this.#isMet(before)) return []
      if (typeof before === 'string') {
        const at = this.#indexOf(before)
        if (this.playbook.steps[at]!.required || this.#openCalls(at) > 0) return null
        const earlier = clear(this.playbook.steps[at]!.before)
        return earlier === null ? null : [...earlier, at]
      }
      const members = membersOf(before).map(clear)
      if ('any' in before) return members.find((each) => each !== null) ?? null
      return members.includes(null) ? null : members.flatMap((each) => each ?? [])
    }
    const passed = clear(this.playbook.steps[index]!.before)
    if (passed === null || this.heldBack(index)) return null
    const { when } = this.playbook.steps[index]!
    return when === null || this.#holds(when, this.#view({ passed })) ? passed : null
  }

  // Verdicts

  judge(tool: string, args: JsonObject | null): Verdict {
    const refuse = (code: string): Verdict => ({ code, owner: null, passed: [] })
    if (this.state.ended !== null) return refuse('run_ended')
    if (this.stopped) return refuse('step_failed')
    if (this.paused) return refuse('run_paused')
    if (this.state.calls.some((call) => call.tool === tool && call.state === 'unknown'))
      return refuse('outcome_unknown')

    const extra = !this.playbook.steps.some((step) => step.tools.includes(tool))
    const found = extra ? this.#ownerOfExtra() : this.#ownerOf(tool)
    if (typeof found === 'string') return refuse(found)
    const { owner, passed } = found
    const step = owner === null ? null : this.playbook.steps[owner]!
    if (owner !== null && step!.cap !== null && this.used(owner) >= step!.cap) return refuse('max_tool_calls')
    const { maxExtra } = this.playbook
    if (extra && maxExtra !== null && this.usedExtras >= maxExtra) return refuse('max_extra_calls')

    const view = this.#view({ passed, args, tool })
    const demand = step !== null && Object.hasOwn(step.arguments, tool) ? step.arguments[tool] : undefined
    if (demand !== undefined) {
      const { schema, require } = demand
      const fits = schema === null || (args !== null && schema.fits(args))
      const failed = !fits || (require !== null && !this.#holds(require, view))
      if (failed) return refuse(args === null ? 'arguments_required' : 'argument_rule')
    }
    for (const rule of this.playbook.rules) {
      if (!rule.tools.test(tool)) continue
      if (args === null && rule.require.readsArguments) return refuse('arguments_required')
      if (!this.#holds(rule.require, view)) return refuse('rule')
    }
    return { code: null, owner, passed }
  }

  #refuseOutright({ tool, callId, args, veto }: Proposal): string | null {
    const { tools } = this.options
    if (!/^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$/.test(tool)) return 'invalid_tool_name'
    if (args !== undefined) {
      const isObject = isJson(args) && typeof args === 'object' && args !== null && !Array.isArray(args)
      const wanted = tools === null || !Object.hasOwn(tools, tool) ? null : tools[tool]!
      if (!isObject || (wanted !== null && !wanted.fits(args as Json))) return 'invalid_arguments'
    }
    if (callId !== undefined && this.state.calls.some((call) => call.id === callId)) return 'duplicate_call'
    if (tools !== null && !Object.hasOwn(tools, tool)) return 'unknown_tool'
    return veto === undefined ? null : 'vetoed'
  }

  #ownerOf(tool: string): { owner: number; passed: readonly number[] } | string {
    const { steps } = this.state
    const naming = this.playbook.steps.flatMap((step, index) => (step.tools.includes(tool) ? [index] : []))
    const having = (...phases: Phase[]) => naming.filter((index) => phases.includes(steps[index]!.phase))
    const open = having('open').find((index) => this.#canBeCalled(index))
    if (open !== undefined) return { owner: open, passed: [] }
    const lingering = having('lingering').at(-1)
    if (lingering !== undefined) return { owner: lingering, passed: [] }
    for (const index of having('waiting')) {
      const passed = this.passesFor(index)
      if (passed !== null) return { owner: index, passed }
    }
    if (this.complete) return 'playbook_complete'
    if (having('waiting', 'open').length > 0) return 'out_of_sequence'
    const spent = naming.some((index) => {
      const { cap } = this.playbook.steps[index]!
      return steps[index]!.status === 'completed' && cap !== null && this.used(index) >= cap
    })
    return spent ? 'max_tool_calls' : 'step_closed'
  }

  #ownerOfExtra(): { owner: number | null; passed: readonly number[] } | string {
    const star = this.playbook.steps.findIndex(
      (step, index) => step.star && this.state.steps[index]!.phase === 'open' && this.#canBeCalled(index),
    )
    if (star !== -1) return { owner: star, passed: [] }
    if (this.playbook.allowExtra) return { owner: null, passed: [] }
    return this.complete ? 'playbook_complete' : 'unexpected_tool'
  }

  #observedOwner(tool: string): number | null {
    const naming = this.playbook.steps.flatMap((step, index) => (step.tools.includes(tool) ? [index] : []))
    const undone = naming.find((index) => !this.met(index) && !this.hasFailed(index))
    return undone ?? naming.at(-1) ?? null
  }

  // What follows

  #admit(id: string, tool: string, args: JsonObject | null, step: number | null, owned: boolean): void {
    const extra = !this.playbook.steps.some((each) => each.tools.includes(tool))
    const visit = step === null ? 1 : this.state.steps[step]!.visit
    this.state.calls.push({
      id,
      tool,
      args,
      step,
      visit,
      extra,
      state: 'open',
      settled: 0,
      result: undefined,
    })
    if (step === null) return
    const standing = this.state.steps[step]!
    standing.active = true
    if (owned && standing.phase === 'waiting') this.#open(step)
    if (owned || standing.phase === 'lingering' || standing.status === 'pending')
      standing.status = 'in_progress'
    if (standing.phase === 'lingering') Object.assign(standing, { phase: 'open', reopened: true })
    this.#closeLingering(step)
  }

  #open(index: number): void {
    this.state.steps[index]!.phase = 'open'
  }

  #close(index: number, status: Status, phase: Phase = 'closed'): void {
    Object.assign(this.state.steps[index]!, { status, phase, reopened: false })
    this.#closeLingering(index)
  }

  #closeLingering(later: number): void {
    for (const [index, other] of this.state.steps.entries()) {
      if (other.phase === 'lingering' && this.comesBefore(index, later)) other.phase = 'closed'
    }
  }

  /** Lets happen what happens by itself, one thing at a time, until nothing does. */
  settleDown(): void {
    const { state } = this
    if (state.ended === null) while (this.#happen()) continue
    for (const [index, standing] of state.steps.entries()) {
      if (index === this.current && standing.phase === 'open') standing.active = true
      else if (standing.spent === 0 && this.callsOf(index).length === 0) standing.active = false
    }
  }

  #happen(): boolean {
    const { steps } = this.state
    for (const [index, step] of this.playbook.steps.entries()) {
      if (steps[index]!.phase !== 'waiting' || !this.beforeIsMet(index)) continue
      this.#arrive(index, step)
      return true
    }
    for (const index of steps.keys()) {
      const standing = steps[index]!
      if (!this.#canBeWeighed(index)) continue
      if (!this.#evidenceHolds(index) || !this.#validationHolds(index)) continue
      const { cap } = this.playbook.steps[index]!
      const early = standing.phase === 'waiting'
      this.#close(index, 'completed', cap !== null && this.used(index) < cap ? 'lingering' : 'closed')
      standing.outOfOrder = early
      return true
    }
    for (const [index, step] of this.playbook.steps.entries()) {
      const spent = step.cap !== null && this.used(index) >= step.cap
      if (!spent || !this.#canBeWeighed(index)) continue
      if (this.#onlyDeclarationMissing(index) && step.onLimit !== 'advance') continue
      return this.#limit(index)
    }
    for (const [index, { timeout }] of this.playbook.steps.entries()) {
      if (timeout === null || steps[index]!.spent < timeout || this.isDone(index)) continue
      if (!this.stopped && !this.paused && !this.heldBack(index)) return this.#limit(index)
    }
    return false
  }

  /** A step that is open, or was called before its turn, and has no open ticket. */
  #canBeWeighed(index: number): boolean {
    const { status, phase } = this.state.steps[index]!
    const early = phase === 'waiting' && status === 'in_progress'
    const held = this.heldBack(index) && this.options.enforced
    return (phase === 'open' || early) && this.#openCalls(index) === 0 && !held
  }

  #arrive(index: number, step: NaiveStep): void {
    try {
      if (step.when === null || step.when.holds(this.#view({}))) this.#open(index)
      else Object.assign(this.state.steps[index]!, { status: 'skipped', phase: 'closed', reopened: false })
    } catch {
      this.state.steps[index]!.phase = 'undecided'
    }
  }

  #limit(index: number): true {
    const { onLimit } = this.playbook.steps[index]!
    if (onLimit === 'escalate') this.state.steps[index]!.phase = 'escalated'
    else if (onLimit === 'advance' && this.#validationHolds(index) && this.#openCalls(index) === 0) {
      this.state.steps[index]!.outOfOrder = this.state.steps[index]!.phase === 'waiting'
      this.#close(index, 'completed')
    } else this.#close(index, 'failed')
    return true
  }

  #onlyDeclarationMissing(index: number): boolean {
    const { completeWhen, tools, star } = this.playbook.steps[index]!
    const asks = completeWhen === 'declared' || (completeWhen === null && (tools.length === 0 || star))
    if (!asks || !this.#validationHolds(index) || this.#openCalls(index) > 0) return false
    return completeWhen === 'declared' || this.#allSucceeded(index)
  }

  #evidenceHolds(index: number): boolean {
    const { completeWhen, tools, star } = this.playbook.steps[index]!
    const succeeded = this.#successes(index).map((call) => call.tool)
    const different = tools.filter((tool) => succeeded.includes(tool)).length
    if (completeWhen === null) return tools.length > 0 && !star && this.#allSucceeded(index)
    if (completeWhen === 'declared') return false
    if (completeWhen === 'all') return this.#allSucceeded(index)
    if (completeWhen === 'any') return different >= 1
    if (typeof completeWhen === 'number') return different >= completeWhen
    return this.#holds(completeWhen, this.#view({ step: index }))
  }

  #validationHolds(index: number): boolean {
    const { minCalls, keywords, resultSchema, expression } = this.playbook.steps[index]!
    const successes = this.#successes(index)
    if (successes.length < minCalls) return false
    const texts = successes
      .filter((call) => call.result !== undefined)
      .map(({ result }) => (typeof result === 'string' ? result : JSON.stringify(result)))
    const says = (word: string) => texts.some((text) => new RegExp(`\\b${word}\\b`, 'i').test(text))
    if (!keywords.every(says)) return false
    if (resultSchema !== null) {
      const latest = successes.at(-1)
      if (latest === undefined || !resultSchema.fits(latest.result ?? null)) return false
    }
    return expression === null || this.#holds(expression, this.#view({ step: index }))
  }

  #allSucceeded(index: number): boolean {
    const successes = this.#successes(index)
    return this.playbook.steps[index]!.tools.every((tool) => successes.some((call) => call.tool === tool))
  }

  #successes(index: number): Call[] {
    const succeeded = this.callsOf(index).filter((call) => call.state === 'succeeded')
    return succeeded.toSorted((a, b) => a.settled - b.settled)
  }

  #openCalls(index: number): number {
    return this.state.calls.filter((call) => call.step === index && isOpen(call)).length
  }

  isDone(index: number): boolean {
    return ['completed', 'skipped', 'failed'].includes(this.state.steps[index]!.status)
  }

  hasFailed(index: number): boolean {
    return this.state.steps[index]!.status === 'failed' && this.playbook.steps[index]!.required
  }

  #indexOf(id: string): number {
    return this.playbook.steps.findIndex((step) => step.id === id)
  }

  #holds(condition: Template, view: View): boolean {
    try {
      return condition.holds(view)
    } catch {
      return false
    }
  }

  #view(about: { passed?: readonly number[]; args?: JsonObject | null; tool?: string; step?: number }): View {
    const results =
      about.step === undefined ? [] : this.#successes(about.step).map((call) => call.result ?? null)
    const steps = this.playbook.steps.map(({ id }, index) => {
      const { status, result } = this.state.steps[index]!
      const skipped = about.passed?.includes(index) ?? false
      return [id, { status: skipped ? 'skipped' : status, result }] as const
    })
    return {
      inputs: this.options.inputs,
      steps: Object.fromEntries(steps),
      args: about.args ?? null,
      tool: about.tool ?? '',
      results,
      past: this.state.calls,
    }
  }
}

/** Random arguments hold nothing worse than a big integer. */
function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

function membersOf(group: Exclude<Before, string>): readonly Before[] {
  return 'any' in group ? group.any : group.all
}
