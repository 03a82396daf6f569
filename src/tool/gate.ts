/**
 * The gate of one run: the state, a clock, and the record, behind which every shell stands.
 *
 * Owns: one run's state; nobody else changes it.
 * Talks to: `run/`, which makes every verdict; the sink, which writes down what happened.
 *
 * Invariants
 * P1  One plan per run (G11): a gate is one run, and never shares its state.
 * P2  A call that was not allowed leaves no slot taken and no step changed.
 * P3  If what happened cannot be written down, nothing more is let through. A sink may answer at once or with a promise; whoever
 *     runs a tool waits for `written` first (G16).
 */
import type { CompiledPlaybook } from '../playbook/compile-playbook.ts'
import type { LedgerCounts } from '../journal/call-ledger.ts'
import { decide } from '../run/decide.ts'
import type { RunEvent } from '../run/event.ts'
import { passTime, perform, startRun, type Performance, type RunStart } from '../run/perform.ts'
import type { RunRequest } from '../run/request.ts'
import type { RunState } from '../run/state.ts'
import { readState, writeState } from '../run/state-json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { compensationOf } from './compensation-of.ts'
import { describeAnswer } from './describe-answer.ts'
import { isOnlyShown } from './dry-run-tool.ts'
import type { EnforcementResult } from './enforcement-result.ts'
import type { ProposedCall } from './enforcer-options.ts'
import type { ApprovalVote } from '../run/approval.ts'
import { isWaiting } from '../run/decide-approval.ts'
import type { IdentityKind } from '../policy/policy-request.ts'
import type { JudgedCall, PolicyGuard } from './policy-guard.ts'
import { readProposal } from './read-proposal.ts'
import { recordFailure, refuseUnjudged, refuseUnrecorded } from './record-failure.ts'
import type { RunSecrets } from './run-secrets.ts'
import { forwardTime } from './forward-time.ts'
import type { ToolRegistry } from './tool-registry.ts'
import type { CallTurnstile } from './turnstile.ts'

/** Receives what happened, in order; may answer with a promise that is kept when it is written down. */
export type EventSink = (events: readonly RunEvent[]) => unknown

/** What a gate needs besides the run. */
export interface GateOptions {
  readonly tools: ToolRegistry | null
  readonly recordViolations: boolean
  readonly clock: () => number
  readonly sink: EventSink | null
  /** The policies it stands under; null for none, and then nobody is asked. */
  readonly policy: PolicyGuard | null
  /** What its calls are given when they are sent; null where the playbook has no secrets. */
  readonly secrets: RunSecrets | null
}

/** Judges what is asked of one run, and keeps its state and its record in step. */
export class Gate {
  readonly #options: GateOptions
  #state: RunState
  #broken: { readonly cause: unknown } | null = null
  #written: Promise<void> = Promise.resolve()
  /** What the sink answered last. */
  #answer: unknown = null
  #turnstile: CallTurnstile | null = null
  readonly #forward = forwardTime()

  constructor(state: RunState, options: GateOptions) {
    this.#state = state
    this.#options = options
  }

  /** Begins a run and writes its first events down. */
  static begin(compiled: CompiledPlaybook, start: RunStart, options: GateOptions): Gate {
    const { state, events } = startRun(compiled, start, { now: readClock(options.clock) })
    const gate = new Gate(state, options)
    gate.#write(events)
    return gate
  }

  /** Has its calls pass a turnstile before they are judged. */
  standBehind(turnstile: CallTurnstile): void {
    this.#turnstile = turnstile
  }

  /** Where calls wait before they are judged; null where they do not. */
  get turnstile(): CallTurnstile | null {
    return this.#turnstile
  }

  /** The run so far, to be read only. */
  get state(): RunState {
    return this.#state
  }

  get tools(): ToolRegistry | null {
    return this.#options.tools
  }

  get secrets(): RunSecrets | null {
    return this.#options.secrets
  }

  get recordViolations(): boolean {
    return this.#options.recordViolations
  }

  /**
   * Judges a call and reserves its place if it is allowed. Never throws (G1). `tools` are those the call is one of, where it is made
   * by a run below this one; `counts` what all runs of the tenant did, where policies ask for it.
   */
  judge(
    tool: string,
    call: Omit<ProposedCall, 'tool'>,
    tools: ToolRegistry | null = this.tools,
    counts: LedgerCounts | null = null,
  ): EnforcementResult {
    if (this.#broken !== null) return refuseUnrecorded(tool, this.#broken.cause)
    let due: readonly RunEvent[] = []
    try {
      const clock = readClock(this.#options.clock)
      const now = this.#forward(clock, this.#state.clock)
      // What is due by itself comes first, so that policies are told of the state in which the call is judged.
      due = passTime(this.#state, { now })
      const { request, facts } = this.#propose(tool, call, tools, counts, { clock, now })
      const { answer, events } = perform(this.#state, request, facts)
      this.#write(due.length === 0 ? events : [...due, ...events])
      due = []
      const broken = this.#broken as { readonly cause: unknown } | null
      if (broken !== null) return refuseUnrecorded(tool, broken.cause)
      return describeAnswer(this.#state, answer, this.recordViolations)
    } catch (error) {
      this.#write(due)
      return refuseUnjudged(tool, error)
    }
  }

  /** Says whether a call would be let through now; reserves and records nothing. `tools` as for `judge`. */
  wouldAllow(
    call: ProposedCall,
    tools: ToolRegistry | null = this.tools,
    counts: LedgerCounts | null = null,
  ): boolean {
    const { request, facts } = this.#propose(call.tool, call, tools, counts)
    return decide(this.#state, request, facts).some((event) => event.type === 'tool.admitted')
  }

  /** What policies ask about other runs before they judge a call, and who can say; null where they ask nothing, or nobody can. */
  asksOthers(call: ProposedCall, tools: ToolRegistry | null): ReturnType<PolicyGuard['asksOthers']> {
    const { policy, clock } = this.#options
    if (policy === null || !policy.mayAskOthers) return null
    const now = readClock(clock)
    const { request } = readProposal(call.tool, call, tools, now)
    return policy.asksOthers(this.#state, request, tools?.get(call.tool) ?? null, now)
  }

  /** Says whether policies still let a call go out that was admitted before and is sent again under its key; what approved it still counts. */
  mayRepeat(call: JudgedCall, counts: LedgerCounts | null): boolean {
    const { policy, clock } = this.#options
    if (this.#state.suspension !== null) return false
    if (policy === null) return true
    const tool = this.tools?.get(call.tool) ?? null
    const said = policy.judge(this.#state, call, tool, readClock(clock), counts)
    return said.verdict !== 'deny'
  }

  /** Says whether broken glass lifts what a held call waits for, so that it could be made without anybody's approval. */
  isLifted(call: JudgedCall, counts: LedgerCounts | null): boolean {
    const { policy, clock } = this.#options
    if (policy === null) return false
    const said = policy.judge(this.#state, call, this.tools?.get(call.tool) ?? null, readClock(clock), counts)
    return said.verdict === 'allow' && said.code === 'policy_break_glass'
  }

  /** Takes what a person says to a held call; what that comes to, or why it does not count. Throws `record_failed`. */
  vote(
    callId: string,
    vote: Omit<ApprovalVote, 'at'>,
  ): { readonly comesTo: string } | { readonly refused: string } {
    const now = this.now()
    const { policy } = this.#options
    const ticket = this.#state.byCallId.get(callId)
    if (ticket === undefined || !isWaiting(ticket)) return { refused: 'it waits for no approval' }
    if (policy === null) return { refused: 'the policies that hold it are not known here' }
    const voter = { ...vote, identity: vote.identity as IdentityKind }
    const why = policy.whyNotBy(ticket, voter)
    if (why !== null) return { refused: why }
    const comesTo = policy.comesTo(ticket, voter, now)
    const { answer } = this.request({
      type: 'vote',
      callId,
      vote,
      comesTo,
      requesters: policy.requesters,
    })
    return answer.some(({ type }) => type === 'approval.voted')
      ? { comesTo }
      : { refused: 'it came too late' }
  }

  /** A call as the machine judges it, with what policies say to it. */
  #propose(
    tool: string,
    call: Omit<ProposedCall, 'tool'>,
    tools: ToolRegistry | null,
    counts: LedgerCounts | null = null,
    time?: { readonly clock: number; readonly now: number },
  ) {
    const { policy } = this.#options
    const clock = time?.clock ?? readClock(this.#options.clock)
    const now = time?.now ?? this.#forward(clock, this.#state.clock)
    const { request, facts } = readProposal(tool, call, tools, now)
    if (policy === null) return { request, facts }
    // A window of a policy is one of the clock on the wall, whatever the run counts.
    const said = policy.judge(this.#state, request, tools?.get(request.tool) ?? null, clock, counts)
    return { request, facts: { ...facts, policy: said } }
  }

  /** Says whether a final answer would be accepted now; records nothing. */
  wouldFinish(): boolean {
    const events = decide(this.#state, { type: 'finish', message: null }, { now: this.now() })
    return events.some((event) => event.type === 'run.finished' && event.status === 'succeeded')
  }

  /** Judges calls on a copy, as if each succeeded without a result before the next; reserves and records nothing (G5). */
  forecast(calls: readonly ProposedCall[]): EnforcementResult[] {
    const state = readState(this.#state.compiled, writeState(this.#state))
    return calls.map((call) => {
      if (this.#broken !== null) return refuseUnrecorded(call.tool, this.#broken.cause)
      const { request, facts } = this.#propose(call.tool, call, this.tools)
      const result = describeAnswer(state, perform(state, request, facts).answer, this.recordViolations)
      const { callId } = result
      if (callId !== null) {
        perform(state, { type: 'settle', callId, tool: request.tool, outcome: 'succeeded' }, facts)
      }
      return result
    })
  }

  /** Carries out anything that is asked of a run but a call. Throws `record_failed` if it cannot be written down. */
  request(request: Exclude<RunRequest, { type: 'call' }>): Performance {
    this.assertRecorded()
    const asked = request.type === 'settle' ? this.#complete(request) : request
    const performance = perform(this.#state, asked, { now: this.now() })
    this.#write(performance.events)
    this.assertRecorded()
    return performance
  }

  /** Adds what only the tool of a succeeded call can say: what undoes it, and whether it was only shown. */
  #complete(request: Extract<RunRequest, { type: 'settle' }>): typeof request {
    const { shape, byCallId } = this.#state
    if (request.outcome !== 'succeeded' || request.callId === null) return request
    if (!shape.compensates && !shape.hasCalls) return request
    const tool = this.tools?.get(request.tool)
    if (tool == null) return request
    if (isOnlyShown(tool)) return { ...request, shown: true }
    const args = byCallId.get(request.callId)?.args ?? null
    const undo = shape.compensates ? compensationOf(tool, args, request.result) : null
    return undo === null ? request : { ...request, undo }
  }

  /** Asks for a move of a step: null if it was made, else why not. */
  move(request: Extract<RunRequest, { type: 'complete' | 'skip' | 'fail' | 'retry' }>): string | null {
    const refused = this.request(request).answer.find((event) => event.type === 'step.refused')
    return refused === undefined ? null : refused.reasons.join('; ')
  }

  /** The time as the run counts it, which only goes forward: whoever waits for one of its times waits by this clock. */
  now(): number {
    return this.#forward(readClock(this.#options.clock), this.#state.clock)
  }

  /** Lets the run do what time alone brings about. */
  passTime(): void {
    this.assertRecorded()
    this.#write(passTime(this.#state, { now: this.now() }))
    this.assertRecorded()
  }

  /** Waits until everything so far is written down. Throws `record_failed` if it cannot be. */
  async written(): Promise<void> {
    await this.#written
    this.assertRecorded()
  }

  /** Throws `record_failed` if what happened could not be written down. */
  assertRecorded(): void {
    if (this.#broken !== null) throw recordFailure(this.#broken.cause)
  }

  #write(events: readonly RunEvent[]): void {
    const { sink } = this.#options
    if (sink === null || events.length === 0) return
    // Once writing failed, the state is ahead of its record, and may not be acted on any more.
    const fail = (cause: unknown) => {
      this.#broken ??= { cause }
    }
    try {
      const answer = sink(events)
      // What is written in one moment is written together, and one promise stands for all of it.
      if (answer === this.#answer || !isThenable(answer)) return
      this.#answer = answer
      const kept = Promise.resolve(answer).then(() => undefined, fail)
      this.#written = this.#written.then(() => kept)
    } catch (error) {
      fail(error)
    }
  }
}

function readClock(clock: () => number): number {
  const now = clock()
  if (Number.isFinite(now)) return now
  throw new LockstepError('invalid_value', `The clock says ${String(now)}, which is no time.`)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
