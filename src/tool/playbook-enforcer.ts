/**
 * Holds any agent to a playbook: a thin shell over the run machine that gives it a clock and keeps its state.
 *
 * Owns: one run's state, and the queue its calls pass through.
 * Talks to: `run/`, which makes every verdict; the host, by return values.
 *
 * Invariants
 * P1  One plan per run (G11): an enforcer is one run, and never shares its state.
 * P2  A call that was not allowed leaves no slot taken and no step changed.
 * P3  If the record of an admission cannot be written (`onEvents` throws), the call is refused, and so is everything after.
 */
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { PlaybookStep } from '../playbook/playbook-step.ts'
import type { RunEnd, RunEvent } from '../run/event.ts'
import { passTime, perform, startRun, type Performance } from '../run/perform.ts'
import type { Facts, RunRequest } from '../run/request.ts'
import { isComplete, type RunState } from '../run/state.ts'
import { readState, writeState } from '../run/state-json.ts'
import { outcomes } from '../run/ticket.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { toJson } from '../shared/to-json.ts'
import { CallQueue } from './call-queue.ts'
import { checkInputs } from './check-inputs.ts'
import { currentPlaybookStep, describeAnswer, describeViolation } from './describe-answer.ts'
import { describePlan } from './describe-plan.ts'
import type { EnforcementResult, EnforcementViolation } from './enforcement-result.ts'
import { nextStepHints } from './enforcement-hints.ts'
import type {
  EnforcerOptions,
  FinishResult,
  ProposedCall,
  RecordedOutcome,
  RestoreOptions,
  StepSummary,
} from './enforcer-options.ts'
import { matchTools } from './match-tools.ts'
import type { PlaybookPlan } from './playbook-plan.ts'
import { readProposal } from './read-proposal.ts'
import { recordFailure, refuseUnjudged, refuseUnrecorded } from './record-failure.ts'
import { type CallOutcome, type CallToRun, runCall, runTurn } from './run-call.ts'
import { readSnapshot, takeSnapshot, type EnforcerSnapshot } from './snapshot.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** Holds one run of an agent to a playbook. */
export class PlaybookEnforcer {
  readonly #options: EnforcerOptions
  readonly #recordViolations: boolean
  readonly #tools: ToolRegistry | null
  readonly #clock: () => number
  readonly #queue = new CallQueue()
  #state: RunState
  #plan: { readonly version: number; readonly plan: PlaybookPlan } | null = null
  #broken: unknown = null

  private constructor(options: EnforcerOptions, tools: ToolRegistry | null, state: RunState) {
    this.#options = options
    this.#recordViolations = options.recordViolations ?? true
    this.#tools = tools
    this.#clock = options.clock ?? Date.now
    this.#state = state
  }

  /** Begins a run. Throws `invalid_input` if the inputs do not fit, `unknown_tool` if a tool that the playbook names is missing. */
  static fromPlaybook(playbook: Playbook, options: EnforcerOptions = {}): PlaybookEnforcer {
    const tools = matchTools(playbook, options.tools)
    const { state, events } = begin(playbook, options)
    const enforcer = new PlaybookEnforcer(options, tools, state)
    enforcer.#write(events)
    return enforcer
  }

  /**
   * Takes a run up where a snapshot left it. Throws `playbook_mismatch` if it was taken under another version of the
   * playbook, unless `acceptOtherVersion` asks for that; `invalid_snapshot` if it is none.
   */
  static restore(
    playbook: Playbook,
    snapshot: EnforcerSnapshot,
    options: RestoreOptions = {},
  ): PlaybookEnforcer {
    const { acceptOtherVersion = false, ...others } = options
    const { state, recordViolations } = readSnapshot(compilePlaybook(playbook), snapshot, acceptOtherVersion)
    const full: EnforcerOptions = {
      recordViolations,
      ...others,
      blockViolations: state.enforced,
      inputs: state.inputs,
      finishAttempts: state.finishAttempts,
    }
    return new PlaybookEnforcer(full, matchTools(playbook, options.tools), state)
  }

  /** Judges a call and, if it is allowed, reserves its place until `recordToolCall` settles it. Never throws. */
  validateToolCall(tool: string, call: Omit<ProposedCall, 'tool'> = {}): EnforcementResult {
    if (this.#broken !== null) return refuseUnrecorded(tool, this.#broken)
    try {
      const { request, facts } = this.#proposal(tool, call)
      const { answer } = this.#perform(request, facts)
      if (this.#broken !== null) return refuseUnrecorded(tool, this.#broken)
      return describeAnswer(this.#state, answer, this.#recordViolations)
    } catch (error) {
      return refuseUnjudged(tool, error)
    }
  }

  /** Forecasts calls as if each succeeded, without a result, before the next. Reserves and records nothing (G5). */
  validateToolCalls(calls: readonly (string | ProposedCall)[]): EnforcementResult[] {
    const state = readState(this.#state.compiled, writeState(this.#state))
    return calls.map((each) => {
      const call = typeof each === 'string' ? { tool: each } : each
      if (this.#broken !== null) return refuseUnrecorded(call.tool, this.#broken)
      const { request, facts } = this.#proposal(call.tool, call)
      const { answer } = perform(state, request, facts)
      const result = describeAnswer(state, answer, this.#recordViolations)
      const { callId } = result
      if (callId !== null)
        perform(state, { type: 'settle', callId, tool: call.tool, outcome: 'succeeded' }, facts)
      return result
    })
  }

  /**
   * Records how a call ended: by its id, or else the oldest open one of that name. A record that no allowed call stands
   * behind counts, completes nothing, and is kept as a violation. Throws `invalid_value` if the result is not JSON or the
   * outcome is none.
   */
  recordToolCall(tool: string, outcome: RecordedOutcome = {}): void {
    if (outcome.outcome !== undefined && !outcomes.includes(outcome.outcome)) {
      throw new LockstepError('invalid_value', `'${String(outcome.outcome)}' is no outcome of a call.`, {
        hint: `Record one of ${outcomes.join(', ')}. The call is still open.`,
      })
    }
    const reading = outcome.result === undefined ? null : toJson(outcome.result)
    if (reading !== null && reading.problem !== null) {
      throw new LockstepError(
        'invalid_value',
        `The result of '${tool}' cannot be kept: ${reading.problem}.`,
        {
          hint: 'Record JSON: plain objects, lists, texts, numbers. The call is still open.',
        },
      )
    }
    this.#command({
      type: 'settle',
      callId: outcome.callId ?? null,
      tool,
      outcome: outcome.outcome ?? 'succeeded',
      result: reading?.value,
      error: outcome.error,
    })
  }

  /**
   * Judges a call, runs it and records how it ended, in turn with every other call made this way (G5); tools that only
   * read run side by side. Without `execute`, the registered tool of that name is run.
   */
  call(
    tool: string,
    args: unknown,
    execute?: CallToRun['execute'],
    options: Omit<CallToRun, 'tool' | 'arguments' | 'execute'> = {},
  ): Promise<CallOutcome> {
    const work = execute === undefined ? {} : { execute }
    return runCall(this, this.#queue, this.#tools, { tool, arguments: args, ...work, ...options })
  }

  /** Runs the calls of one turn in order: after one that was refused or went wrong, later ones that write are not executed (G5). */
  callAll(calls: readonly CallToRun[]): Promise<CallOutcome[]> {
    return runTurn(this, this.#queue, this.#tools, calls)
  }

  /**
   * Completes the current step on the host's word. True if another step is due, false if none is. Throws
   * `step_not_completable` with the reasons when its validation does not hold or a call of it is still open.
   */
  completeCurrentStep(result: string | null = null): boolean {
    const step = this.currentStep
    if (step === null) return false
    const reasons = this.#refusal({ type: 'complete', by: 'host', step: step.id, result })
    if (reasons === null) return this.currentStep !== null
    throw new LockstepError('step_not_completable', `Step '${step.id}' cannot be completed: ${reasons}.`)
  }

  /** Skips the current step. False if it is required, has an open call, or there is none. */
  skipCurrentStep(reason: string | null = null): boolean {
    const step = this.currentStep
    return step !== null && this.#refusal({ type: 'skip', by: 'host', step: step.id, reason }) === null
  }

  /** Fails the current step, if there is one. A required step that failed stops the run until it is retried. */
  failCurrentStep(error: string): void {
    const step = this.currentStep
    if (step !== null) this.#command({ type: 'fail', by: 'host', step: step.id, error })
  }

  /** Begins a failed, escalated or undecided step anew. Throws `unknown_step`, or `step_not_retryable` with the reasons. */
  retryStep(stepId: string, reason: string | null = null): void {
    if (this.playbook.getStep(stepId) === null) {
      const ids = this.playbook.steps.map((step) => step.id)
      const nearest = nearestName(stepId, ids)
      throw new LockstepError('unknown_step', `There is no step '${stepId}'.`, {
        hint: nearest === null ? null : `Did you mean '${nearest}'?`,
      })
    }
    const reasons = this.#refusal({ type: 'retry', step: stepId, reason })
    if (reasons === null) return
    throw new LockstepError('step_not_retryable', `Step '${stepId}' cannot be retried: ${reasons}.`)
  }

  /** Counts one turn of the model against `max_iterations`. False when the run may not go on. */
  beginIteration(): boolean {
    const { answer } = this.#command({ type: 'iterate' })
    return !this.#state.enforced || answer.some((event) => event.type === 'iteration.started')
  }

  /** Hands in the final answer (G9): sent back while required steps are open, so many times, then the run ends incomplete. */
  finish(message: string | null = null): FinishResult {
    const { answer } = this.#command({ type: 'finish', message })
    const refused = answer.find((event) => event.type === 'finish.refused')
    return {
      accepted: this.#state.ended === 'succeeded',
      status: this.#state.ended,
      remaining: refused?.remaining ?? [],
      unsettled: refused?.unsettled ?? [],
    }
  }

  /** Lets the run notice that time has passed, where no call does it. */
  checkTime(): void {
    if (this.#broken !== null) throw recordFailure(this.#broken)
    this.#write(passTime(this.#state, { now: this.#now() }))
  }

  /** Begins the run anew: first step, no calls, no violations. */
  reset(): void {
    if (this.#broken !== null) throw recordFailure(this.#broken)
    const { state, events } = begin(this.playbook, this.#options)
    this.#state = state
    this.#plan = null
    this.#write(events)
  }

  /** Puts the run down as JSON; `PlaybookEnforcer.restore` takes it up again. */
  snapshot(): EnforcerSnapshot {
    return takeSnapshot(this.#state, this.#recordViolations)
  }

  /** Hints for the step after the current one, unless its `disclosure` keeps it back; empty if there is none. */
  getNextStepHints(): string[] {
    return nextStepHints(this.#state)
  }

  /** Where the run stands, in numbers. */
  getStepSummary(): StepSummary {
    const { plan } = this
    const having = (status: string) =>
      plan.executions.filter((execution) => execution.status === status).length
    return {
      totalSteps: plan.playbook.steps.length,
      currentStepIndex: plan.currentStepIndex,
      completed: having('completed'),
      skipped: having('skipped'),
      failed: having('failed'),
      inProgress: having('in_progress'),
      pending: having('pending'),
      progress: plan.progress,
      isComplete: plan.completed,
      enforced: this.#state.enforced,
    }
  }

  get playbook(): Playbook {
    return this.#state.compiled.playbook
  }

  /** The run so far. A record: changing it changes no verdict. */
  get plan(): PlaybookPlan {
    if (this.#plan?.version !== this.#state.version) {
      this.#plan = { version: this.#state.version, plan: describePlan(this.#state) }
    }
    return this.#plan.plan
  }

  /** What broke the playbook so far, oldest first. */
  get violations(): EnforcementViolation[] {
    return this.#recordViolations ? this.#state.violations.map(describeViolation) : []
  }

  /** The step that is due: the earliest that is open and not satisfied; null when there is none. */
  get currentStep(): PlaybookStep | null {
    return currentPlaybookStep(this.#state)
  }

  /** Hints for the current step. */
  get currentStepHints(): string[] {
    return [...(this.currentStep?.hints ?? [])]
  }

  /** The share of steps that are done, skipped ones included: 0 to 1. */
  get progress(): number {
    return this.plan.progress
  }

  /** Whether every step is done and every call accounted for. */
  get isComplete(): boolean {
    return isComplete(this.#state)
  }

  /** How the run ended; null while it goes on. */
  get status(): RunEnd | null {
    return this.#state.ended
  }

  get blockViolations(): boolean {
    return this.#state.enforced
  }

  get recordViolations(): boolean {
    return this.#recordViolations
  }

  #proposal(tool: string, call: Omit<ProposedCall, 'tool'>): ReturnType<typeof readProposal> {
    return readProposal(tool, call, this.#tools, this.#now())
  }

  #now(): number {
    const now = this.#clock()
    if (Number.isFinite(now)) return now
    throw new LockstepError('invalid_value', `The clock says ${String(now)}, which is no time.`)
  }

  /** Asks the machine for a move of a step: null if it was made, else why not. */
  #refusal(request: RunRequest): string | null {
    const refused = this.#command(request).answer.find((event) => event.type === 'step.refused')
    return refused === undefined ? null : refused.reasons.join('; ')
  }

  #command(request: RunRequest): Performance {
    if (this.#broken !== null) throw recordFailure(this.#broken)
    const performance = this.#perform(request, { now: this.#now() })
    if (this.#broken !== null) throw recordFailure(this.#broken)
    return performance
  }

  #perform(request: RunRequest, facts: Facts): Performance {
    const performance = perform(this.#state, request, facts)
    this.#write(performance.events)
    return performance
  }

  #write(events: readonly RunEvent[]): void {
    if (this.#options.onEvents === undefined || events.length === 0) return
    try {
      this.#options.onEvents(events)
    } catch (error) {
      // The state is ahead of its record now, so it may not be acted on any more.
      this.#broken = error ?? new Error('onEvents threw nothing')
    }
  }
}

function begin(playbook: Playbook, options: EnforcerOptions): ReturnType<typeof startRun> {
  const start = {
    inputs: checkInputs(playbook, options.inputs),
    enforced: options.blockViolations ?? true,
    finishAttempts: options.finishAttempts ?? 2,
  }
  return startRun(compilePlaybook(playbook), start, { now: (options.clock ?? Date.now)() })
}
