/**
 * One run of an agent: asks the model, hands what it proposes to the gate, and shows it what became of it.
 *
 * Owns: the conversation of one run.
 * Talks to: the model, which only proposes; the enforcer, the only way to a tool; the record.
 *
 * Invariants
 * A1  Every tool runs through `enforcer.call`: a fresh turn, a resumed one and a repeated one take the same path.
 * A2  A turn of the model is written down before any of its calls is judged; a resumed run continues it and does not ask again.
 * A3  The run ends `succeeded` only if the gate accepted a final answer (G9).
 * A4  Whatever the model says is data.
 */
import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from '@ai-sdk/provider'
import type { EventOf } from '../run/event.ts'
import type { Ticket } from '../run/ticket.ts'
import { messageOf } from '../shared/message-of.ts'
import { partLimits, toJson } from '../shared/to-json.ts'
import { brief, outline } from '../tool/briefing.ts'
import { controlMove } from '../tool/control-tool.ts'
import { answerCalls } from './answer-calls.ts'
import { runAfterModelCall, runBeforeModelCall } from './hook.ts'
import { askModel, maxCalls, type ModelTurn } from './model-turn.ts'
import { Interruption } from './interruption.ts'
import { legalTools, offeredTools } from './offered-tools.ts'
import { promptMessage, type RecordedMessage } from './recorded-message.ts'
import { ToldTools } from './told-tools.ts'
import { isEmpty, openTurn, toolMessage, type OpenTurn, type RecordedRun } from './read-record.ts'
import { writeFact, writePrompt, type RunSetup } from './run-setup.ts'

/** After how many answers of nothing at all the run is given up. */
const maxEmptyAnswers = 3

/** Why a run stops here. A paused one has not ended: it waits for a person, and can be taken up. */
export interface Stop {
  readonly status: 'incomplete' | 'failed' | 'cancelled' | 'paused'
  readonly reason: string
}

/** A part of a run that is left to a model: what it is told, and when it is done. */
export interface Errand {
  /** Null for the outline of the playbook, and for the brief of the step that is due. */
  readonly system: string | null
  readonly brief: string | null
  isDone(): boolean
  /** Takes what the model says as the end of it; null if it was taken, else why not. */
  finish(text: string): string | null
  /** Takes over what becomes of the run when the model's part cannot go on; without it, the run ends. */
  stop?(stop: Stop & { readonly status: Exclude<Stop['status'], 'paused'> }): void
}

interface NextQuestion {
  readonly prompt: readonly LanguageModelV4Message[]
  readonly told: readonly LanguageModelV4FunctionTool[]
  readonly names: readonly string[]
  readonly length: number
  readonly sends: number
}

/** Works through one run, or through one errand of it. */
export class AgentRun {
  readonly #setup: RunSetup
  readonly #errand: Errand | null
  readonly #messages: LanguageModelV4Message[] = []
  readonly #told: ToldTools
  #turn: OpenTurn | null
  #turns: number
  #lastText: string
  #idle = 0
  #empty = 0
  /** What the last question took, and its length; known only where there is a budget. */
  #sent: { readonly tokens: number; readonly length: number } | null = null

  /** Without a record, the run has just begun. */
  constructor(
    setup: RunSetup,
    recorded: Pick<RecordedRun, 'messages' | 'turn' | 'turns' | 'lastText'> | null = null,
    errand: Errand | null = null,
  ) {
    this.#setup = setup
    this.#errand = errand
    this.#told = new ToldTools(setup.enforcer.gate.tools, setup.model)
    for (const message of recorded?.messages ?? []) this.#say(message)
    this.#turn = recorded?.turn ?? null
    this.#turns = recorded?.turns ?? 0
    this.#lastText = recorded?.lastText ?? ''
  }

  /** The last thing the model said. */
  get lastText(): string {
    return this.#lastText
  }

  get turns(): number {
    return this.#turns
  }

  /** Gives the model its task. */
  async prompt(text: string): Promise<void> {
    await writePrompt(this.#setup, text)
    this.#say({ role: 'user', content: text })
  }

  /** Goes on until the run has ended or waits for a person. Returns why it did not succeed, or null. */
  async work(notice: string | null = null): Promise<string | null> {
    let stop = this.#hasEnded() ?? (notice === null ? null : await this.#takeUp(notice))
    while (stop === null && this.#errand?.isDone() !== true) {
      stop = await this.#answerTurn()
      if (stop === null && this.#errand?.isDone() !== true) stop = this.#whyStop() ?? (await this.#ask())
    }
    if (stop === 'succeeded' || stop === null) return null
    const { status, reason } = stop
    if (status === 'paused') return reason
    if (this.#errand?.stop === undefined) this.#setup.enforcer.end(status, reason)
    else if (this.#setup.enforcer.status === null) this.#errand.stop({ status, reason })
    return reason
  }

  /** What the gate says of how the run ended; null while it goes on. */
  #hasEnded(sentBack: EventOf<'finish.refused'> | null = null): Stop | 'succeeded' | null {
    const { status, gate } = this.#setup.enforcer
    if (status === null || status === 'succeeded') return status
    if (status === 'failed')
      return { status, reason: gate.state.errors.at(-1) ?? gate.state.message ?? status }
    return { status, reason: sentBack === null ? (gate.state.message ?? status) : whatRemains(sentBack) }
  }

  #whyStop(): Stop | null {
    const { enforcer, signal, spending, trouble, maxIterations, maxIdleTurns } = this.#setup
    if (signal.aborted) return whyAborted(signal)
    if (trouble.reason !== null) return { status: 'failed', reason: trouble.reason }
    enforcer.checkTime()
    const { state } = enforcer.gate
    if (state.ended !== null) return this.#endedBesides()
    if (state.suspension !== null) return { status: 'paused', reason: whoPaused(state.suspension) }
    if (state.failedRequired > 0 && state.enforced) {
      return { status: 'failed', reason: state.errors.at(-1) ?? 'a required step failed' }
    }
    if (state.paused > 0 && state.enforced) {
      return { status: 'paused', reason: `step '${enforcer.currentStep?.id}' waits for a person` }
    }
    if (this.#turns >= maxIterations)
      return { status: 'failed', reason: `the run took ${maxIterations} turns, which is all it may` }
    if (this.#empty >= maxEmptyAnswers) {
      return { status: 'incomplete', reason: `the model answered nothing, ${this.#empty} times in a row` }
    }
    if (this.#idle >= maxIdleTurns) {
      return { status: 'incomplete', reason: `nothing was done in ${maxIdleTurns} turns in a row` }
    }
    const spent = spending.exceeded()
    return spent === null ? null : { status: 'failed', reason: spent }
  }

  /** Somebody else ended the run while the model was at work. */
  #endedBesides(): Stop {
    const ended = this.#hasEnded()
    return ended === null || ended === 'succeeded' ? { status: 'paused', reason: 'the run has ended' } : ended
  }

  /** Asks the model and writes its turn down (A2); returns why the run stops instead, or null. */
  async #ask(): Promise<Stop | null> {
    const { enforcer, hooks, record, signal, spending } = this.#setup
    const number = this.#turns + 1
    // A turn that was begun before an interruption, and not answered, has been counted.
    const begun = enforcer.gate.state.iterations > this.#turns
    if (!begun && !enforcer.beginIteration())
      return this.#whyStop() ?? { status: 'failed', reason: 'the turns are used up' }
    const denied = await runBeforeModelCall(hooks, { run: record.run, number, signal })
    if (denied !== null && signal.aborted) return whyAborted(signal)
    if (denied !== null) return { status: 'failed', reason: denied }
    const question = this.#question()
    const short = spending.exceededBy(question.sends)
    if (short !== null) return { status: 'failed', reason: short }
    let answer: ModelTurn
    const began = performance.now()
    try {
      answer = await this.#askModel(number, question)
    } catch (error) {
      if (signal.aborted) return whyAborted(signal)
      if (error instanceof Interruption) return { status: 'paused', reason: error.message }
      return { status: 'failed', reason: `the model gave no answer: ${inOneLine(messageOf(error))}` }
    } finally {
      spending.modelMs += performance.now() - began
    }
    const cost = spending.spend(answer)
    const reading = toJson(answer, partLimits)
    if (reading.problem !== null)
      return { status: 'failed', reason: `the model's answer cannot be written down: ${reading.problem}` }
    this.#turns = number
    if (answer.text !== '') this.#lastText = answer.text
    const priced = cost === null ? answer : { ...answer, cost }
    const fact = { type: 'model.answered', at: Date.now(), number, ...priced } as const
    await writeFact(this.#setup, fact)
    if (!isEmpty(fact)) this.#say(answer.message as unknown as RecordedMessage)
    this.#turn = openTurn(fact)
    return null
  }

  /** What the model is to be asked now, and how many tokens it sends at least, as far as a budget needs to know. */
  #question(): NextQuestion {
    const { enforcer, offer, spending, systemPrompt } = this.#setup
    const { state, tools } = enforcer.gate
    const offered = offeredTools(state, tools ?? [], offer)
    const task = this.#errand?.system ?? outline(state)
    const system = [systemPrompt, task].filter((text) => text !== '').join('\n\n')
    const now = this.#errand?.brief ?? brief(state)
    const prompt = [
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...this.#messages,
      // The brief is not kept: the history before it stays the same, so that a prompt cache holds.
      ...(now === '' ? [] : [userMessage(`[procedure]\n${now}`)]),
    ]
    const told = this.#told.tell(offered)
    const length = spending.limited ? JSON.stringify([prompt, told]).length : 0
    const last = this.#sent
    // The conversation only grows; what may shrink is the brief and the tools.
    const sends = last === null ? 0 : Math.floor(last.tokens * Math.min(1, length / last.length))
    return { prompt, told, names: offered.map(({ name }) => name), length, sends }
  }

  async #askModel(number: number, { prompt, told, names, length, sends }: NextQuestion): Promise<ModelTurn> {
    const { model, signal, onEvent, spending } = this.#setup
    onEvent?.({ type: 'model.asked', at: Date.now(), number, tools: names })
    return await askModel({
      model,
      prompt,
      tools: told,
      decode: this.#told.decode,
      maxTokens: spending.allowance(this.#setup.maxTokens, sends),
      maxRetries: this.#setup.maxRetries,
      signal,
      onText: onEvent === null ? null : (text) => onEvent({ type: 'text.delta', at: Date.now(), text }),
      onUsage: ({ promptTokens, estimated }) => {
        const tokens = promptTokens + (estimated?.promptTokens ?? 0)
        this.#sent = length === 0 ? null : { tokens, length }
      },
    })
  }

  /** Answers the turn that is open: runs its calls, or hands its text in as the final answer. */
  async #answerTurn(): Promise<Stop | 'succeeded' | null> {
    const turn = this.#turn
    if (turn === null) return null
    this.#turn = null
    const { hooks, record, signal, spending } = this.#setup
    const { number, text, calls } = turn.fact
    // Also on a turn that is resumed: whoever looks at answers must not be passed by, so it may see one twice.
    const denied = await runAfterModelCall(hooks, { run: record.run, number, text, calls, signal })
    if (denied !== null && signal.aborted) return whyAborted(signal)
    if (denied !== null) return { status: 'failed', reason: denied }
    this.#empty = isEmpty(turn.fact) ? this.#empty + 1 : 0
    if (this.#empty > 0) {
      await this.#remind('Your answer was empty. Go on, or give your final answer.')
      return null
    }
    if (calls.length === 0 && turn.fact.cut) {
      this.#idle++
      await this.#remind('Your answer was cut off: it is longer than it may be. Say it in fewer words.')
      return null
    }
    if (calls.length === 0) return await this.#finish(turn)
    const began = performance.now()
    const outcomes = await answerCalls(this.#setup, turn)
    spending.toolMs += performance.now() - began
    if (outcomes.some(({ status }) => status === 'held')) {
      this.#turn = turn
      return { status: 'paused', reason: whatIsHeld(this.#setup) }
    }
    this.#say(toolMessage(turn))
    const { dropped = 0 } = turn.fact
    if (dropped > 0) {
      await this.#remind(
        `A turn has ${maxCalls} calls at most. ${dropped} more calls of yours were not executed and are not known here.`,
      )
    }
    this.#idle = outcomes.some(({ status }) => status === 'succeeded') ? 0 : this.#idle + 1
    return null
  }

  async #finish({ fact, sentBack }: OpenTurn): Promise<Stop | 'succeeded' | null> {
    const { enforcer } = this.#setup
    if (this.#errand !== null) return await this.#finishErrand(this.#errand, fact.text)
    if (sentBack === null) {
      const waiting = this.#waitsForPerson()
      if (waiting !== null) return { status: 'paused', reason: waiting }
    }
    const answer = sentBack ?? enforcer.finish(fact.text)
    const refused = { remaining: answer.remaining, unsettled: answer.unsettled }
    const ended = this.#hasEnded({ type: 'finish.refused', at: 0, attempt: 0, ...refused })
    if (ended !== null) return ended
    this.#idle++
    await this.#remind(
      `This was not taken as your final answer: ${whatRemains(refused)}. Go on with the procedure.`,
    )
    return null
  }

  async #finishErrand(errand: Errand, text: string): Promise<Stop | null> {
    const refused = errand.finish(text)
    if (refused === null) return null
    const unknown = whatIsUnknown(this.#setup)
    if (unknown !== null) return { status: 'paused', reason: unknown }
    this.#idle++
    await this.#remind(`This was not taken as the end of it: ${refused}.`)
    return null
  }

  /** Why sending an answer back again would not help: only a person can find out what became of a call. */
  #waitsForPerson(): string | null {
    const { state, tools } = this.#setup.enforcer.gate
    if (state.openTickets.size === 0 || state.ended !== null) return null
    const legal = legalTools(state, tools?.names ?? []).some((name) => controlMove(name) === null)
    if (legal && state.finishRefusals < state.finishAttempts) return null
    return whatIsOpen([...state.openTickets])
  }

  /** Goes on after a person has acted: finishes what the model asked for, and tells it. */
  async #takeUp(notice: string): Promise<Stop | 'succeeded' | null> {
    const said = this.#turn !== null && this.#turn.fact.calls.length === 0
    const stop = said ? null : await this.#answerTurn()
    this.#turn = null
    if (stop === null) await this.#remind(notice)
    return stop
  }

  /** Adds to the conversation that the next question repeats. */
  #say(message: RecordedMessage): void {
    this.#messages.push(promptMessage(message, this.#told.encode))
  }

  async #remind(what: string): Promise<void> {
    const text = `[procedure]\n${what}`
    await writeFact(this.#setup, { type: 'agent.reminded', at: Date.now(), text })
    this.#say({ role: 'user', content: text })
  }
}

/** What a run says that somebody paused. */
export function whoPaused({ by, reason }: { readonly by: string; readonly reason: string | null }): string {
  return `the run is paused by ${by}${reason === null ? '' : `: ${reason}`}`
}

/** What a run says that waits for people to approve a call. */
export function whatIsHeld({ enforcer }: RunSetup): string {
  const held = [...enforcer.gate.state.openTickets].filter(({ state }) => state === 'held')
  return `${held.map(({ tool, callId }) => `${tool} (${callId})`).join(', ')} waits for approval`
}

/** Why a run has to wait for a person, if it is because nobody knows what became of a call. */
export function whatIsUnknown({ enforcer }: RunSetup): string | null {
  const unknown = [...enforcer.gate.state.openTickets].filter(({ state }) => state === 'unknown')
  return unknown.length === 0 ? null : whatIsOpen(unknown)
}

function whatIsOpen(tickets: readonly Pick<Ticket, 'tool' | 'callId'>[]): string {
  const open = tickets.map(({ tool, callId }) => `${tool} (${callId})`)
  return `nobody knows what became of ${open.join(', ')}: a person has to settle it`
}

function userMessage(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

/** What an aborted signal means for the run: put down, or cancelled for good. */
export function whyAborted({ reason }: AbortSignal): Stop {
  return reason instanceof Interruption
    ? { status: 'paused', reason: reason.message }
    : { status: 'cancelled', reason: 'the run was cancelled' }
}

function whatRemains(refused: Pick<EventOf<'finish.refused'>, 'remaining' | 'unsettled'>): string {
  const { remaining, unsettled } = refused
  const steps = remaining.length > 0 ? [`these required steps are not done: ${remaining.join(', ')}`] : []
  const calls = unsettled.length > 0 ? [`nobody has settled ${unsettled.join(', ')}`] : []
  return [...steps, ...calls].join('; ') || 'the run cannot end yet'
}

/** What a service said went wrong: pages of it help nobody. */
export function inOneLine(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim()
  return (line.length > 500 ? `${line.slice(0, 500)}…` : line).toWellFormed()
}
