import { randomUUID } from 'node:crypto'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { Playbook } from '../playbook/playbook.ts'
import type { PlaybookStep } from '../playbook/playbook-step.ts'
import type { RunEnd, RunEvent } from '../run/event.ts'
import { replay } from '../run/perform.ts'
import { isComplete, type RunState } from '../run/state.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { CallQueue } from './call-queue.ts'
import { checkInputs } from './check-inputs.ts'
import { currentPlaybookStep, describeViolation } from './describe-answer.ts'
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
import { Gate, type GateOptions } from './gate.ts'
import { PolicyGuard } from './policy-guard.ts'
import { matchTools } from './match-tools.ts'
import type { PlaybookPlan } from './playbook-plan.ts'
import { type CallOutcome, type CallToRun, riskOf, runCall } from './run-call.ts'
import { runTurn } from './run-turn.ts'
import { readOutcome } from './read-outcome.ts'
import { policiesOf } from './runbook-policy.ts'
import { RunSecrets } from './run-secrets.ts'
import { refuseUnfound } from './secret-resolver.ts'
import { readSnapshot, takeSnapshot, type EnforcerSnapshot } from './snapshot.ts'
import { toolManifest } from './tool-manifest.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** Holds one run of any agent to a playbook: what people call, in front of the gate that decides. */
export class PlaybookEnforcer {
  readonly #options: EnforcerOptions
  #queue = new CallQueue()
  #gate: Gate
  #plan: { readonly version: number; readonly plan: PlaybookPlan } | null = null

  private constructor(options: EnforcerOptions, gate: Gate) {
    this.#options = options
    this.#gate = gate
  }

  /** Begins a run. Throws `invalid_input` if the inputs do not fit, `unknown_tool` if a tool that the playbook names is missing, `secret_unavailable` if nobody finds its secrets. */
  static fromPlaybook(playbook: Playbook, options: EnforcerOptions = {}): PlaybookEnforcer {
    return new PlaybookEnforcer(options, begin(playbook, options, matchTools(playbook, options.tools)))
  }

  /** Takes a run up from the events it wrote down. Throws `playbook_mismatch` if they are of another version of the playbook. */
  static fromEvents(
    playbook: Playbook,
    events: Iterable<RunEvent>,
    options: RestoreOptions = {},
  ): PlaybookEnforcer {
    const state = replay(compilePlaybook(playbook), events)
    return new PlaybookEnforcer(...takeUp(playbook, state, options))
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
    return new PlaybookEnforcer(...takeUp(playbook, state, { recordViolations, ...others }))
  }

  /** Judges a call and, if it is allowed, reserves its place until `recordToolCall` settles it. Never throws. */
  validateToolCall(tool: string, call: Omit<ProposedCall, 'tool'> = {}): EnforcementResult {
    return this.#gate.judge(tool, call)
  }

  /** Forecasts calls as if each succeeded, without a result, before the next. Reserves and records nothing (G5). */
  validateToolCalls(calls: readonly (string | ProposedCall)[]): EnforcementResult[] {
    return this.#gate.forecast(calls.map((call) => (typeof call === 'string' ? { tool: call } : call)))
  }

  /**
   * Records how a call ended: by its id, or else the oldest open one of that name. A record that no allowed call stands
   * behind counts, completes nothing, and is kept as a violation. Throws `invalid_value` if the result is not JSON, the
   * outcome is none, or only an error is given.
   */
  recordToolCall(tool: string, outcome: RecordedOutcome = {}): void {
    this.#gate.request({ type: 'settle', tool, ...readOutcome(tool, outcome, false) })
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
    return runCall(this.#gate, this.#queue, { tool, arguments: args, ...work, ...options })
  }

  /** Runs the calls of one turn in order: after one that was refused or went wrong, later ones that write are not executed (G5). */
  callAll(calls: readonly CallToRun[]): Promise<CallOutcome[]> {
    const gate = this.#gate
    const queue = this.#queue
    return runTurn(
      calls.map((call) => ({
        tool: call.tool,
        shared: riskOf(call, gate.tools) === 'read',
        run: () => runCall(gate, queue, call),
      })),
    )
  }

  /**
   * Completes the current step on the host's word. True if another step is due, false if none is. Throws
   * `step_not_completable` with the reasons when its validation does not hold or a call of it is still open.
   */
  completeCurrentStep(result: string | null = null): boolean {
    const step = this.currentStep
    if (step === null) return false
    const reasons = this.#gate.move({ type: 'complete', by: 'host', step: step.id, result })
    if (reasons === null) return this.currentStep !== null
    throw new LockstepError('step_not_completable', `Step '${step.id}' cannot be completed: ${reasons}.`)
  }

  /**
   * Declares the current step complete on the agent's word: for a step that completes by declaration, when nothing else is
   * missing. Null if it was taken, else why not. Give this to an agent, never `completeCurrentStep`, which overrides `complete_when`.
   */
  declareCurrentStep(result: string | null = null): string | null {
    const step = this.currentStep
    return step === null
      ? 'no step is due'
      : this.#gate.move({ type: 'complete', by: 'model', step: step.id, result })
  }

  /** Skips the current step. False if it is required, has an open call, or there is none. */
  skipCurrentStep(reason: string | null = null): boolean {
    const step = this.currentStep
    return step !== null && this.#gate.move({ type: 'skip', by: 'host', step: step.id, reason }) === null
  }

  /** Fails the current step, if there is one. A required step that failed stops the run until it is retried. */
  failCurrentStep(error: string): void {
    const step = this.currentStep
    if (step !== null)
      this.#gate.request({ type: 'fail', by: 'host', step: step.id, error: messageOf(error) })
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
    const reasons = this.#gate.move({ type: 'retry', step: stepId, reason })
    if (reasons === null) return
    throw new LockstepError('step_not_retryable', `Step '${stepId}' cannot be retried: ${reasons}.`)
  }

  /** Counts one turn of the model against `max_iterations`. False when the run may not go on. */
  beginIteration(): boolean {
    const { answer } = this.#gate.request({ type: 'iterate' })
    return !this.#gate.state.enforced || answer.some((event) => event.type === 'iteration.started')
  }

  /** Hands in the final answer (G9): sent back while required steps are open, so many times, then the run ends incomplete. */
  finish(message: string | null = null): FinishResult {
    const { answer } = this.#gate.request({ type: 'finish', message })
    const refused = answer.find((event) => event.type === 'finish.refused')
    return {
      accepted: this.#gate.state.ended === 'succeeded',
      status: this.#gate.state.ended,
      remaining: refused?.remaining ?? [],
      unsettled: refused?.unsettled ?? [],
    }
  }

  /** Ends the run short of success, with the reason. Nothing is let through afterwards. */
  end(status: 'incomplete' | 'failed' | 'cancelled', message: string | null = null): void {
    this.#gate.request({ type: 'end', status, message })
  }

  /** Lets the run notice that time has passed, where no call does it. */
  checkTime(): void {
    this.#gate.passTime()
  }

  /** Waits until everything so far is written down, where `onEvents` returns promises. Throws `record_failed` if it cannot be. */
  written(): Promise<void> {
    return this.#gate.written()
  }

  /** Begins the run anew: first step, no calls, no violations. Throws `calls_in_flight` while a call is not settled. */
  reset(): void {
    this.#gate.assertRecorded()
    const open = [...this.#gate.state.openTickets].map((ticket) => ticket.callId)
    if (open.length > 0) {
      throw new LockstepError(
        'calls_in_flight',
        `The run cannot begin anew: nobody has settled ${open.join(', ')}.`,
        {
          hint: 'Record how they ended, or take a new enforcer.',
        },
      )
    }
    this.#gate = begin(this.playbook, this.#options, this.#gate.tools)
    this.#queue = new CallQueue()
    this.#plan = null
  }

  /** Puts the run down as JSON; `PlaybookEnforcer.restore` takes it up again. */
  snapshot(): EnforcerSnapshot {
    return takeSnapshot(this.#gate.state, this.#gate.recordViolations)
  }

  /** Hints for the step after the current one, unless its `disclosure` keeps it back; empty if there is none. */
  getNextStepHints(): string[] {
    return nextStepHints(this.#gate.state)
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
      violationsDropped: this.#gate.state.violationsDropped,
      enforced: this.#gate.state.enforced,
    }
  }

  get playbook(): Playbook {
    return this.#gate.state.compiled.playbook
  }

  /** The run so far. A record: changing it changes no verdict. */
  get plan(): PlaybookPlan {
    if (this.#plan?.version !== this.#gate.state.version) {
      this.#plan = { version: this.#gate.state.version, plan: describePlan(this.#gate.state) }
    }
    return this.#plan.plan
  }

  /** What broke the playbook so far, oldest first. */
  get violations(): EnforcementViolation[] {
    return this.recordViolations ? this.#gate.state.violations.map(describeViolation) : []
  }

  /** The step that is due: the earliest that is open and not satisfied; null when there is none. */
  get currentStep(): PlaybookStep | null {
    return currentPlaybookStep(this.#gate.state)
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
    return isComplete(this.#gate.state)
  }

  /** How the run ended; null while it goes on. */
  get status(): RunEnd | null {
    return this.#gate.state.ended
  }

  get blockViolations(): boolean {
    return this.#gate.state.enforced
  }

  get recordViolations(): boolean {
    return this.#gate.recordViolations
  }

  /** The gate behind this run, for Lockstep's own shells. @internal */
  get gate(): Gate {
    return this.#gate
  }
}

function begin(playbook: Playbook, options: EnforcerOptions, tools: ToolRegistry | null): Gate {
  if (!(playbook instanceof Playbook)) {
    throw new LockstepError('usage', 'A run needs a Playbook: make one with definePlaybook or loadPlaybook.')
  }
  const mode = modeOf(playbook, options)
  if (mode.mode === undefined) refuseUnfound(playbook, options.secrets ?? null)
  const start = {
    run: options.run ?? randomUUID(),
    inputs: checkInputs(playbook, options.inputs),
    enforced: options.blockViolations ?? true,
    finishAttempts: options.finishAttempts ?? 2,
    ...mode,
    ...(tools === null ? {} : { tools: toolManifest(tools).digest }),
  }
  return Gate.begin(compilePlaybook(playbook), start, gateOptions(playbook, options, tools))
}

/** What an enforcer needs to go on with a run that was begun elsewhere. */
function takeUp(playbook: Playbook, state: RunState, options: RestoreOptions): [EnforcerOptions, Gate] {
  const full: EnforcerOptions = {
    ...options,
    blockViolations: state.enforced,
    inputs: state.inputs,
    finishAttempts: state.finishAttempts,
  }
  return [full, new Gate(state, gateOptions(playbook, full, matchTools(playbook, options.tools)))]
}

/** Epoch milliseconds that never go back and never jump, whatever is done to the system's clock meanwhile. */
function steadyTime(): number {
  return Math.round(performance.timeOrigin + performance.now())
}

/** Only calls that the runtime makes look at each other's outputs, so only they need to know that there are none. */
function modeOf(playbook: Playbook, { mode, policy }: EnforcerOptions): { mode?: 'dry-run' } {
  const calls = playbook.steps.some((step) => step.tool !== null)
  return calls && (mode ?? policy?.mode) === 'dry-run' ? { mode: 'dry-run' } : {}
}

function gateOptions(playbook: Playbook, options: EnforcerOptions, tools: ToolRegistry | null): GateOptions {
  const policy = policiesOf(playbook, options.policy)
  return {
    tools,
    recordViolations: options.recordViolations ?? true,
    clock: options.clock ?? steadyTime,
    sink: options.onEvents ?? null,
    policy: policy === undefined ? null : new PolicyGuard(policy),
    secrets:
      Object.keys(playbook.secrets).length === 0
        ? null
        : new RunSecrets(playbook.secrets, options.secrets ?? null),
  }
}
