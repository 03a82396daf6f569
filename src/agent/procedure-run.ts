/**
 * Drives a procedure with calls of its own: makes the calls that are due, side by side where the order allows it, waits for the next attempt, and lets a
 * model work on the steps that are left to one.
 *
 * Owns: waiting. What is due, the run machine says; nothing is decided here.
 * Talks to: the enforcer, the only way to a tool; the model, through `AgentRun`.
 *
 * Invariants
 * D1  Every call goes the way of an agent's calls: hooks, approval, the runs above, the gate.
 * D2  What follows from the end of a call is asked for in the same moment, so that the outcome of one call and the intent of the next are written
 *     down together.
 * D3  A call that is under way is not begun a second time; an outcome nobody knows stops what depends on it until somebody settles it.
 * D4  The work ends when nothing is in flight any more, whatever stops it.
 */
import { deadlineOf } from '../run/step-clock.ts'
import { type DueCall, dueCalls, findDue, isStopping } from '../run/due-calls.ts'
import { type RunState } from '../run/state.ts'
import type { Outcome } from '../run/ticket.ts'
import type { CallOutcome } from '../tool/run-call.ts'
import {
  AgentRun,
  whatIsHeld,
  whatIsUnknown,
  whoPaused,
  whyAborted,
  type Errand,
  type Stop,
} from './agent-run.ts'
import { runAfterToolCall, runBeforeToolCall, type HookedCall } from './hook.ts'
import { Interruption } from './interruption.ts'
import { insideCall } from './lineage.ts'
import { makeCall } from './make-call.ts'
import type { RecordedRun } from './read-record.ts'
import { promptFact, type RunSetup } from './run-setup.ts'

/** A signal that says nothing. */
const never = new AbortController().signal

/** The longest time a timer of the platform can hold. */
const longestTimer = 2_000_000_000

/** Works through one run of a procedure with calls of its own. */
export class ProcedureRun {
  readonly #setup: RunSetup
  readonly #agent: AgentRun | null
  /** Nobody has a say in its calls but the gate, so that they take the short way. */
  readonly #alone: boolean
  readonly #underWay = new Set<string>()
  /** Calls that are settled and of which hooks are still told count too. */
  #making = 0
  /** Tells the calls in flight that nobody waits for them. */
  readonly #giveUp = new AbortController()
  #failed: { readonly error: unknown } | null = null
  /** Why no call is begun any more. */
  #halted: Stop | null = null
  /** Why the model's part cannot go on. */
  #modelStopped: string | null = null
  #next: number | null = null
  #wake: (() => void) | null = null
  #cancelled = false

  constructor(setup: RunSetup, recorded: RecordedRun | null = null) {
    this.#setup = setup
    const { hooks, onApproval, ancestors, enforcer } = setup
    this.#alone =
      onApproval === null &&
      ancestors.length === 0 &&
      hooks.every((hook) => hook.beforeToolCall === undefined && hook.afterToolCall === undefined)
    const { isRunbook } = enforcer.gate.state.shape
    this.#agent = isRunbook ? null : new AgentRun(setup, recorded, this.#errand())
  }

  get lastText(): string {
    return this.#agent?.lastText ?? this.#setup.enforcer.gate.state.message ?? ''
  }

  get turns(): number {
    return this.#agent?.turns ?? 0
  }

  /** Notes the beginning. Where no model works, it is written down with the first call. */
  prompt(text: string): Promise<void> | undefined {
    if (this.#agent !== null) return this.#agent.prompt(text)
    const { record, onEvent } = this.#setup
    const fact = promptFact(this.#setup, text)
    onEvent?.(fact)
    // What is written next comes behind it, and fails if it does.
    record.write([fact]).catch(() => undefined)
    return undefined
  }

  /** Somebody else changed the run: it looks again at what there is to do. */
  wake(): void {
    this.#wake?.()
  }

  /** Goes on until the run has ended or waits for a person. Returns why it did not succeed, or null. */
  async work(notice: string | null = null): Promise<string | null> {
    const { enforcer, signal } = this.#setup
    const onAbort = () => {
      if (!(signal.reason instanceof Interruption)) this.#giveUp.abort(signal.reason)
      this.#wake?.()
    }
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort)
    try {
      const stop = await this.#goOn(notice)
      if (stop === null) return null
      if (stop.status !== 'paused') enforcer.end(stop.status, stop.reason)
      return stop.reason
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #goOn(notice: string | null): Promise<Stop | null> {
    const { enforcer } = this.#setup
    let news = notice
    for (;;) {
      if (this.#failed !== null) throw this.#failed.error
      enforcer.checkTime()
      this.#halted ??= this.#whyHalt()
      if (enforcer.status === null && this.#halted === null) this.#begin()
      const busy = this.#making > 0
      if (!busy && enforcer.status !== null) return this.#howItEnded()
      if (!busy && this.#halted !== null) return this.#halted
      const { state } = enforcer.gate
      const goesOn = enforcer.status === null && this.#halted === null
      if (goesOn && this.#agent !== null && this.#modelStopped === null && isModelsTurn(state)) {
        this.#modelStopped = await this.#agent.work(news)
        news = null
        continue
      }
      if (busy || (goesOn && this.#next !== null)) await this.#rest(goesOn ? this.#next : null)
      else if (state.shape.isRunbook || state.remaining > 0 || !enforcer.finish(this.lastText).accepted)
        return this.#whyItWaits(state)
    }
  }

  /** D2: begins every call that is due and not under way. */
  #begin(): void {
    const { gate } = this.#setup.enforcer
    const { due, next } = dueCalls(gate.state, gate.now())
    this.#next = next
    const { version } = gate.state
    for (const call of due) {
      if (this.#underWay.has(call.callId)) continue
      this.#underWay.add(call.callId)
      this.#making++
      void this.#make(call, version)
    }
  }

  async #make(call: DueCall, version: number): Promise<void> {
    try {
      await (this.#alone ? this.#makeAlone(call, version) : this.#makeWatched(call, version))
    } catch (error) {
      this.#failed ??= { error }
    }
    this.#underWay.delete(call.callId)
    this.#making--
    this.#wake?.()
  }

  async #makeAlone(call: DueCall, version: number): Promise<void> {
    const { callId, tool, args } = call
    const { enforcer, trouble, spending } = this.#setup
    const began = performance.now()
    const veto = trouble.reason === null ? {} : { veto: trouble.reason }
    const options = { ...this.#options(call, version), callId, signal: this.#signalFor(call), ...veto }
    const outcome = await insideCall(this.#setup, callId, () => enforcer.call(tool, args, undefined, options))
    spending.toolMs += performance.now() - began
    this.#refuseForGood(call, outcome)
  }

  /** D1. What became of the call, the machine learns from the gate. */
  async #makeWatched(call: DueCall, version: number): Promise<void> {
    const { enforcer, hooks, record, spending } = this.#setup
    const { callId, tool, args } = call
    const step = call.step === null ? null : enforcer.playbook.getStep(call.step)
    const signal = this.#signalFor(call)
    const hooked: HookedCall = { run: record.run, callId, tool, arguments: args, step, signal }
    const left = await runBeforeToolCall(hooks, hooked)
    const began = performance.now()
    const { outcome } = await makeCall({ ...this.#setup, signal }, hooked, left, this.#options(call, version))
    spending.toolMs += performance.now() - began
    this.#refuseForGood(call, outcome)
    if (outcome.status !== 'held') await runAfterToolCall(hooks, { ...hooked, outcome })
  }

  /**
   * Who puts the run down waits for the calls in flight, so that nobody has to find out afterwards what became of them; who cancels it does not. What is
   * undone after that does not hear of it.
   */
  #signalFor({ purpose }: DueCall): AbortSignal {
    return purpose === 'undo' && this.#giveUp.signal.aborted ? never : this.#giveUp.signal
  }

  /** `version` is the state in which the call was found to be due: another one may not ask for it any more. */
  #options(call: DueCall, version: number) {
    const { callId } = call
    const seconds = this.#secondsLeft(call)
    const { gate } = this.#setup.enforcer
    return {
      due: true,
      isLate: () => gate.state.version !== version && findDue(gate.state, callId, gate.now()) === 'not_due',
      ...(seconds === null ? {} : { timeoutSeconds: seconds }),
      onSettled: (outcome: Outcome, error: string | undefined) => {
        // What could not be made is not begun again in the same breath.
        if (outcome === 'not_executed') this.#stopAt(call, error)
        this.#underWay.delete(callId)
        if (this.#halted === null && this.#failed === null && !this.#setup.signal.aborted) this.#begin()
      },
    }
  }

  /** What is left of the time of the step, or the tool's own time where that is less. */
  #secondsLeft({ step, tool, purpose }: DueCall): number | null {
    const { gate } = this.#setup.enforcer
    const { compiled, activations } = gate.state
    const index = step === null || purpose === 'undo' ? undefined : compiled.positions.get(step)
    const timeout = index === undefined ? null : compiled.steps[index]!.timeout
    if (timeout === null) return null
    const activation = activations[index!]!
    const until = deadlineOf(gate.state, activation)
    const left = until === null ? timeout - activation.activeMs : until - gate.now()
    const own = gate.tools?.get(tool)?.timeoutSeconds ?? Infinity
    return Math.min(Math.max(left, 1) / 1000, own)
  }

  /** The gate refused another call than the one that is due: a hook had changed it, so the one that is due is not made either. */
  #refuseForGood(call: DueCall, outcome: CallOutcome): void {
    const { callId, tool, args } = call
    const { gate } = this.#setup.enforcer
    if (outcome.status === 'not_executed') this.#stopAt(call, outcome.error)
    if (outcome.status !== 'denied') return
    // What was refused for the state the run is in is not due in that state.
    if (!dueCalls(gate.state, gate.now()).due.some((due) => due.callId === callId)) return
    gate.judge(tool, { callId, arguments: args, veto: 'a hook changed what the runbook calls' })
  }

  /** A call that could not be made stops the run until somebody has it go on. */
  #stopAt({ callId, tool }: DueCall, error: string | undefined): void {
    if (this.#setup.signal.aborted) return
    const why = error === undefined ? '' : `: ${error}`
    this.#halted ??= { status: 'paused', reason: `${tool} (${callId}) could not be made${why}` }
  }

  /** What stops the beginning of calls. Who cancels for good lets the machine decide what follows; who puts the run down does not. */
  #whyHalt(): Stop | null {
    const { signal, trouble, enforcer } = this.#setup
    if (signal.aborted && signal.reason instanceof Interruption) return whyAborted(signal)
    if (signal.aborted && !this.#cancelled) {
      this.#cancelled = true
      enforcer.gate.request({ type: 'cancel', by: 'host', reason: null })
    }
    return trouble.reason === null ? null : { status: 'failed', reason: trouble.reason }
  }

  #howItEnded(): Stop | null {
    const { status, gate } = this.#setup.enforcer
    if (status === 'succeeded' || status === null) return null
    // It has ended already; ending it again changes nothing.
    return { status, reason: gate.state.message ?? gate.state.errors.at(-1) ?? status }
  }

  /** Nothing is due, nothing in flight, and time alone brings nothing about. */
  #whyItWaits(state: RunState): Stop {
    const { suspension, held } = state
    if (suspension !== null) return paused(whoPaused(suspension))
    const unknown = whatIsUnknown(this.#setup)
    if (unknown !== null) return paused(unknown)
    if (held.size > 0) return paused(whatIsHeld(this.#setup))
    if (state.paused > 0) {
      return paused(`step '${this.#setup.enforcer.currentStep?.id}' waits for a person`)
    }
    if (isStopping(state))
      return { status: 'failed', reason: state.errors.at(-1) ?? 'a required step failed' }
    return paused(this.#modelStopped ?? 'nothing is due')
  }

  /** What a model has to do in between: the steps that are left to it. */
  #errand(): Errand {
    const { enforcer } = this.#setup
    return {
      system: null,
      brief: null,
      isDone: () => {
        if (enforcer.status !== null || this.#failed !== null) return true
        const { state } = enforcer.gate
        const { due } = dueCalls(state, enforcer.gate.now())
        if (due.some(({ callId }) => !this.#underWay.has(callId))) return true
        return !isModelsTurn(state) && (state.remaining > 0 || isStopping(state) || state.suspension !== null)
      },
      finish: (text) => {
        const { state } = enforcer.gate
        // As long as there are calls to be made, what the model says ends its step, not the run.
        const calls = state.compiled.steps.some((step) => step.call !== null && isLeft(state, step.index))
        if (calls) return enforcer.declareCurrentStep(text)
        const { accepted, status, remaining } = enforcer.finish(text)
        return accepted || status !== null
          ? null
          : `these required steps are not done: ${remaining.join(', ')}`
      },
      stop: ({ status, reason }) => {
        const { gate, currentStep } = enforcer
        const undoes = gate.state.compiled.playbook.onFailure === 'compensate' && status !== 'cancelled'
        const by = 'host'
        if (status === 'cancelled') gate.request({ type: 'cancel', by, reason: null })
        else if (!undoes || currentStep === null) enforcer.end(status, reason)
        else if (gate.move({ type: 'fail', by, step: currentStep.id, error: reason }) !== null)
          enforcer.end(status, reason)
      },
    }
  }

  /** Waits until something happens, or a time has come. */
  #rest(until: number | null): Promise<void> {
    const { signal, enforcer } = this.#setup
    if (signal.aborted && this.#making === 0) return Promise.resolve()
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = null
        resolve()
      }
      // By the run's own clock: the system's may be moved meanwhile.
      if (until === null) return
      const ms = Math.min(Math.max(0, until - enforcer.gate.now()), longestTimer)
      timer = setTimeout(() => this.#wake?.(), ms)
    })
  }
}

function paused(reason: string): Stop {
  return { status: 'paused', reason }
}

/** Whether a step is open that is left to a model, and may go on. */
function isModelsTurn(state: RunState): boolean {
  if (state.ended !== null || isStopping(state) || state.suspension !== null || state.paused > 0) return false
  return state.open.some((index) => state.compiled.steps[index]!.call === null)
}

function isLeft(state: RunState, index: number): boolean {
  const status = state.activations[index]?.status ?? 'pending'
  return status === 'pending' || status === 'in_progress'
}
