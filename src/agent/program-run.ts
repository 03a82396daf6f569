/**
 * Drives a program: makes the calls that are due, asks the model what only a model can answer, and lets a person speak.
 *
 * Owns: waiting. What comes next, the run machine says; nothing is decided here.
 * Talks to: the model, which answers questions or works on an errand; the enforcer, the only way to a tool; the person.
 *
 * Invariants
 * D1  Every call goes the way of an agent's calls: hooks, approval, the runs above, the gate.
 * D2  An answer is written down before anything follows from it; a resumed program asks nothing twice.
 * D3  What was not applied is never repeated silently: a call of unknown outcome stops the run until somebody settles it.
 */
import { partLimits, toJson } from '../shared/to-json.ts'
import { messageOf } from '../shared/message-of.ts'
import { LockstepError, invariant } from '../shared/lockstep-error.ts'
import type { Pending } from '../run/program/program-state.ts'
import { questionBatch } from '../run/program/question-batch.ts'
import {
  AgentRun,
  inOneLine,
  whatIsHeld,
  whatIsUnknown,
  whoPaused,
  whyAborted,
  type Stop,
} from './agent-run.ts'
import { errandOf } from './errand.ts'
import { runAfterToolCall, runBeforeModelCall, runBeforeToolCall, type HookedCall } from './hook.ts'
import { hearPerson } from './hear-person.ts'
import { Interruption } from './interruption.ts'
import { makeCall } from './make-call.ts'
import { askQuestions } from './question/ask-questions.ts'
import type { RecordedRun } from './read-record.ts'
import { writeFact, writePrompt, type RunSetup } from './run-setup.ts'
import { addUsage, noUsage } from './token-usage.ts'
import type { Person } from './person.ts'

/** Works through one run of a program. */
export class ProgramRun {
  readonly #setup: RunSetup
  readonly #person: Person | null
  /** What is left of an errand that was interrupted. */
  #recorded: RecordedRun | null
  #turns: number
  #hearing: Promise<string | null> | null = null

  constructor(setup: RunSetup, person: Person | null, recorded: RecordedRun | null = null) {
    this.#setup = setup
    this.#person = person
    this.#recorded = recorded
    this.#turns = recorded?.turns ?? 0
    // What was said at the beginning and not heard before the run was put down is heard now.
    if (recorded?.events.every(({ type }) => type !== 'message.received') === true)
      this.#expect(recorded.task)
  }

  /** What the program returned, in words. */
  get lastText(): string {
    return this.#setup.enforcer.gate.state.message ?? ''
  }

  get turns(): number {
    return this.#turns
  }

  /** Notes the beginning; a text that is not empty is the first thing the person says. */
  async prompt(text: string): Promise<void> {
    await writePrompt(this.#setup, text)
    this.#expect(text)
  }

  #expect(text: string): void {
    if (text !== '') this.#hearing = Promise.resolve(text)
  }

  /** Goes on until the run has ended or waits for a person. Returns why it did not succeed, or null. */
  async work(): Promise<string | null> {
    const { enforcer } = this.#setup
    for (;;) {
      enforcer.checkTime()
      if (enforcer.status !== null) {
        return enforcer.status === 'succeeded' ? null : (enforcer.gate.state.message ?? enforcer.status)
      }
      await this.#beHeard()
      const stop = this.#whyStop() ?? (await this.#next())
      if (stop === null) continue
      if (stop.status !== 'paused') enforcer.end(stop.status, stop.reason)
      return stop.reason
    }
  }

  /** Whoever listens is told everything so far before anybody is asked the next thing: the two may share a terminal. */
  async #beHeard(): Promise<void> {
    if (this.#setup.onEvent !== null) await new Promise((resolve) => void setImmediate(resolve))
  }

  #whyStop(): Stop | null {
    const { signal, trouble, spending, maxIterations } = this.#setup
    if (signal.aborted) return whyAborted(signal)
    if (trouble.reason !== null) return { status: 'failed', reason: trouble.reason }
    if (this.#turns >= maxIterations) {
      return { status: 'failed', reason: `the run asked a model ${maxIterations} times, which is all it may` }
    }
    const { suspension } = this.#setup.enforcer.gate.state
    if (suspension !== null) return { status: 'paused', reason: whoPaused(suspension) }
    const unknown = whatIsUnknown(this.#setup)
    if (unknown !== null) return { status: 'paused', reason: unknown }
    const spent = spending.exceeded()
    return spent === null ? null : { status: 'failed', reason: spent }
  }

  async #next(): Promise<Stop | null> {
    const { program } = this.#setup.enforcer.gate.state
    const pending = program?.pending ?? null
    invariant(pending !== null, 'the program stands still')
    switch (pending.kind) {
      case 'call':
        return await this.#call(pending)
      case 'questions':
        return await this.#ask(pending.id)
      case 'act':
        return await this.#work(pending.step)
      case 'person':
        return await this.#hear()
      case 'time':
        await this.#sleep(pending.until)
        return null
    }
  }

  /** D1. What became of the call, the machine learns from the gate. */
  async #call({ callId, tool, args }: Extract<Pending, { kind: 'call' }>): Promise<Stop | null> {
    const { enforcer, hooks, record, signal, spending } = this.#setup
    const step = enforcer.currentStep
    const hooked: HookedCall = { run: record.run, callId, tool, arguments: args, step, signal }
    const left = await runBeforeToolCall(hooks, hooked)
    const began = performance.now()
    const { outcome } = await makeCall(this.#setup, hooked, left)
    spending.toolMs += performance.now() - began
    const pending = enforcer.gate.state.program?.pending
    const due = pending?.kind === 'call' && pending.callId === callId && pending.problem === null
    // The gate refused another call than the one that is due: a hook had changed it, so the one that is due is not made either.
    if (due && outcome.status === 'denied') {
      enforcer.gate.judge(tool, { callId, arguments: args, veto: 'a hook changed what the program calls' })
    }
    if (outcome.status === 'held') return { status: 'paused', reason: whatIsHeld(this.#setup) }
    await runAfterToolCall(hooks, { ...hooked, outcome })
    return null
  }

  /** D2. */
  async #ask(id: string): Promise<Stop | null> {
    const { enforcer, hooks, record, signal, spending, onEvent, model } = this.#setup
    const begun = enforcer.gate.state.iterations > this.#turns
    if (!begun && !enforcer.beginIteration()) return null
    const number = this.#turns + 1
    const denied = await runBeforeModelCall(hooks, { run: record.run, number, signal })
    if (denied !== null && signal.aborted) return whyAborted(signal)
    if (denied !== null) return { status: 'failed', reason: denied }
    const batch = questionBatch(enforcer.gate.state)
    onEvent?.({ type: 'model.asked', at: Date.now(), number, tools: [] })
    const began = performance.now()
    let used = noUsage
    let cost: number | null = null
    let problem: string | null = null
    let answers: Awaited<ReturnType<typeof askQuestions>>['answers'] = {}
    try {
      const given = await askQuestions(batch, {
        model,
        signal,
        maxRetries: this.#setup.maxRetries,
        maxTokens: spending.allowance(this.#setup.maxTokens),
        onText:
          onEvent === null
            ? null
            : ({ questionId: question, text, anew }) =>
                onEvent({ type: 'text.delta', at: Date.now(), text, question, ...(anew ? { anew } : {}) }),
        onRequest: ({ promptTokens, completionTokens, estimated }) => {
          const request = { promptTokens, completionTokens }
          used = addUsage(used, estimated === undefined ? request : { ...request, estimated })
        },
      })
      const reading = toJson(given.answers, partLimits)
      if (reading.problem === null) answers = given.answers
      else problem = `the answer cannot be kept: ${reading.problem}`
    } catch (error) {
      if (signal.aborted) return whyAborted(signal)
      if (error instanceof Interruption) return { status: 'paused', reason: error.message }
      if (LockstepError.isInstance(error) && error.code === 'missing_model') {
        return { status: 'paused', reason: `${error.message} ${error.hint ?? ''}`.trim() }
      }
      const unfit = LockstepError.isInstance(error) && error.code === 'model_answer_invalid'
      if (!unfit)
        return { status: 'failed', reason: `the model gave no answer: ${inOneLine(messageOf(error))}` }
      problem = inOneLine(messageOf(error))
    } finally {
      spending.modelMs += performance.now() - began
      cost = spending.spend(used)
    }
    this.#turns = number
    const usage = { number, ...used, ...(cost === null ? {} : { cost }) }
    // What the request took is written down with its answers: both or neither.
    if (problem !== null) await writeFact(this.#setup, { type: 'model.consulted', at: Date.now(), ...usage })
    const { answer } = enforcer.gate.request(
      problem === null ? { type: 'answer', id, answers, usage } : { type: 'unanswered', id, error: problem },
    )
    invariant(answer.length > 0, `the answers to ${id} were not taken`)
    await enforcer.written()
    return null
  }

  /** Lets a model work on one bullet, inside its boundary. */
  async #work(step: string): Promise<Stop | null> {
    const recorded = this.#recorded ?? { messages: [], turn: null, lastText: '', turns: this.#turns }
    this.#recorded = null
    const run = new AgentRun(
      this.#setup,
      { ...recorded, turns: this.#turns },
      errandOf(this.#setup.enforcer, step),
    )
    if (recorded.messages.length === 0) await run.prompt(`[errand] ${step}`)
    const reason = await run.work()
    this.#turns = run.turns
    if (reason === null || this.#setup.enforcer.status !== null) return null
    return { status: 'paused', reason }
  }

  async #hear(): Promise<Stop | null> {
    const { enforcer, signal } = this.#setup
    const person = this.#person
    if (person === null && this.#hearing === null) {
      return { status: 'paused', reason: 'it waits for a person to say something' }
    }
    this.#hearing ??= hearPerson(person!, signal)
    const timers = enforcer.gate.state.program?.timers.map(({ due }) => due) ?? []
    const heard = await this.#until(this.#hearing, timers.length === 0 ? null : Math.min(...timers))
    if (heard === undefined) return null
    this.#hearing = null
    if (signal.aborted) return whyAborted(signal)
    const pending = enforcer.gate.state.program?.pending
    // Who leaves in the middle may come back; a program that only listens has come to its end.
    if (heard === null && pending?.kind === 'person' && pending.step !== null) {
      return { status: 'paused', reason: 'the input ended before the run did' }
    }
    enforcer.gate.request(heard === null ? { type: 'leave' } : { type: 'message', text: heard })
    await enforcer.written()
    return null
  }

  async #sleep(until: number): Promise<void> {
    const timers = this.#setup.enforcer.gate.state.program?.timers.map(({ due }) => due) ?? []
    await this.#until(null, Math.min(until, ...timers))
  }

  /** Waits for a promise, a time or the signal, whichever comes first; undefined for the latter two. */
  async #until<Value>(promise: Promise<Value> | null, time: number | null): Promise<Value | undefined> {
    const { signal } = this.#setup
    const controller = new AbortController()
    const ends: Promise<Value | undefined>[] = [aborted(signal, controller.signal)]
    if (promise !== null) ends.push(promise)
    // By the run's own clock: the system's may be moved meanwhile, and the wait would never end, or never begin.
    if (time !== null) ends.push(pause(time - this.#setup.enforcer.gate.now(), controller.signal))
    try {
      return await Promise.race(ends)
    } finally {
      controller.abort()
    }
  }
}

/** The longest time a timer of the platform can hold. */
const longestTimer = 2_000_000_000

function pause(ms: number, over: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), Math.min(Math.max(0, ms), longestTimer))
    over.addEventListener('abort', () => clearTimeout(timer), { once: true })
  })
}

function aborted(signal: AbortSignal, over: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: over })
  })
}
