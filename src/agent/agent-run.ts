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
import type { LanguageModel, ModelMessage } from 'ai'
import { brief, outline } from '../tool/briefing.ts'
import { controlMove, controlText, moveStep, type ControlMove } from '../tool/control-tool.ts'
import { describeOutcome, describeResult, type ShownOutput } from '../tool/describe-outcome.ts'
import type { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { riskOf, type CallOutcome } from '../tool/run-call.ts'
import type { RunRecord } from '../tool/run-record.ts'
import { runTurn, type TurnItem } from '../tool/run-turn.ts'
import type { AgentEvent, AgentFact } from './agent-event.ts'
import { messageOf, runAfterToolCall, runBeforeToolCall, type AgentHook, type HookedCall } from './hook.ts'
import { askModel, type ModelTurn, type ProposedToolCall } from './model-turn.ts'
import { offeredTools } from './offered-tools.ts'
import type { Spending } from './spending.ts'
import { toolMessage, type OpenTurn } from './read-record.ts'

/** What a run works with. */
export interface AgentRunSetup {
  readonly model: LanguageModel
  readonly enforcer: PlaybookEnforcer
  readonly record: RunRecord
  readonly hooks: readonly AgentHook[]
  readonly systemPrompt: string
  readonly maxIterations: number
  readonly maxTokens: number | null
  readonly maxRetries: number
  readonly maxIdleTurns: number
  readonly maxResultBytes: number
  readonly offer: 'legal' | 'all'
  readonly signal: AbortSignal
  readonly spending: Spending
  /** Hears of everything; null where nobody listens, and then the model need not stream. */
  readonly onEvent: ((event: AgentEvent) => void) | null
}

/** Works through one run. */
export class AgentRun {
  readonly #setup: AgentRunSetup
  readonly #messages: ModelMessage[]
  #turn: OpenTurn | null
  #turns: number
  #idle = 0
  #lastText = ''

  constructor(setup: AgentRunSetup, messages: ModelMessage[], turn: OpenTurn | null, turns: number) {
    this.#setup = setup
    this.#messages = messages
    this.#turn = turn
    this.#turns = turns
    this.#lastText = turn?.fact.text ?? ''
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
    await this.#write({ type: 'agent.prompted', at: Date.now(), text })
    this.#messages.push({ role: 'user', content: text })
  }

  /** Goes on until the run has ended. Returns why it did not succeed, or null. */
  async work(): Promise<string | null> {
    const { enforcer } = this.#setup
    for (;;) {
      await this.#answerTurn()
      if (enforcer.status === 'succeeded') return null
      if (enforcer.status !== null) return 'the final answer came while required steps were open'
      const stop = this.#whyStop()
      if (stop !== null) return this.#end(stop.status, stop.reason)
      const turn = await this.#ask()
      if (typeof turn === 'string') return turn
      this.#turn = turn
    }
  }

  #end(status: 'incomplete' | 'failed' | 'cancelled', reason: string): string {
    this.#setup.enforcer.end(status, reason)
    return reason
  }

  #whyStop(): { status: 'incomplete' | 'failed' | 'cancelled'; reason: string } | null {
    const { enforcer, signal, spending, maxIterations, maxIdleTurns } = this.#setup
    const { state } = enforcer.gate
    if (signal.aborted) return { status: 'cancelled', reason: 'the run was cancelled' }
    if (state.failedRequired > 0 && state.enforced) {
      return { status: 'failed', reason: state.errors.at(-1) ?? 'a required step failed' }
    }
    if (state.paused > 0 && state.enforced) {
      return { status: 'incomplete', reason: `step '${enforcer.currentStep?.id}' waits for a person` }
    }
    if (this.#turns >= maxIterations)
      return { status: 'failed', reason: `the run took ${maxIterations} turns` }
    if (this.#idle >= maxIdleTurns) {
      return { status: 'incomplete', reason: `nothing was done in ${maxIdleTurns} turns in a row` }
    }
    const spent = spending.exceeded()
    return spent === null ? null : { status: 'failed', reason: spent }
  }

  /** Asks the model, writes its turn down (A2) and returns it; a text is the reason why the run has ended instead. */
  async #ask(): Promise<OpenTurn | string> {
    const { enforcer, hooks, record, spending } = this.#setup
    const number = this.#turns + 1
    if (!enforcer.beginIteration())
      return this.#end('failed', enforcer.plan.errors.at(-1) ?? 'the turns are used up')
    for (const hook of hooks) {
      const denied = await Promise.resolve(hook.beforeModelCall?.({ run: record.run, number })).catch(
        (error: unknown) => ({ deny: `${hook.name ?? 'a hook'} failed: ${messageOf(error)}` }),
      )
      if (denied) return this.#end('failed', denied.deny)
    }
    let answer: ModelTurn
    const began = performance.now()
    try {
      answer = await this.#askModel(number)
    } catch (error) {
      if (this.#setup.signal.aborted) return this.#end('cancelled', 'the run was cancelled')
      return this.#end('failed', `the model gave no answer: ${messageOf(error)}`)
    } finally {
      spending.modelMs += performance.now() - began
    }
    spending.promptTokens += answer.promptTokens
    spending.completionTokens += answer.completionTokens
    this.#turns = number
    this.#lastText = answer.text
    const fact = { type: 'model.answered', at: Date.now(), number, ...answer } as const
    await this.#write(fact)
    this.#messages.push(answer.message as unknown as ModelMessage)
    for (const hook of hooks.toReversed()) {
      await hook.afterModelCall?.({ run: record.run, number, text: answer.text, calls: answer.calls })
    }
    return { fact, returned: new Map() }
  }

  async #askModel(number: number): Promise<ModelTurn> {
    const { model, enforcer, signal, onEvent, spending } = this.#setup
    const { state, tools } = enforcer.gate
    const offered = offeredTools(state, tools ?? [], this.#setup.offer)
    onEvent?.({ type: 'model.asked', at: Date.now(), number, tools: offered.map(({ name }) => name) })
    const now = brief(state)
    return await askModel({
      model,
      instructions: [this.#setup.systemPrompt, outline(state)].filter((text) => text !== '').join('\n\n'),
      // The brief is not kept: the history before it stays the same, so that a prompt cache holds.
      messages:
        now === '' ? this.#messages : [...this.#messages, { role: 'user', content: `[procedure]\n${now}` }],
      tools: offered,
      maxTokens: spending.allowance(this.#setup.maxTokens),
      maxRetries: this.#setup.maxRetries,
      signal,
      onText: onEvent === null ? null : (text) => onEvent({ type: 'text.delta', at: Date.now(), text }),
    })
  }

  /** Answers the turn that is open: runs its calls, or hands its text in as the final answer. */
  async #answerTurn(): Promise<void> {
    const turn = this.#turn
    if (turn === null) return
    this.#turn = null
    if (turn.fact.calls.length === 0) return await this.#finish(turn.fact.text)
    const left = turn.fact.calls.filter((call) => !turn.returned.has(call.id))
    const began = performance.now()
    const outcomes = await runTurn(left.map((call) => this.#item(turn, call)))
    this.#setup.spending.toolMs += performance.now() - began
    for (const [index, call] of left.entries()) {
      if (!turn.returned.has(call.id)) await this.#show(turn, call, outcomes[index]!, undefined)
    }
    this.#messages.push(toolMessage(turn))
    this.#idle = outcomes.some(({ status }) => status === 'succeeded') ? 0 : this.#idle + 1
  }

  #item(turn: OpenTurn, call: ProposedToolCall): TurnItem {
    const { enforcer } = this.#setup
    const move = enforcer.playbook.steps.length === 0 ? null : controlMove(call.tool)
    if (move !== null)
      return {
        tool: call.tool,
        shared: false,
        run: async () => this.#move(move, call),
      }
    const shared = riskOf({ tool: call.tool }, enforcer.gate.tools) === 'read'
    return { tool: call.tool, shared, run: () => this.#call(turn, call) }
  }

  async #call(turn: OpenTurn, call: ProposedToolCall): Promise<CallOutcome> {
    const { enforcer, hooks, record, signal } = this.#setup
    // A model may use an id again in another turn; in the run every call has its own.
    const callId = `${turn.fact.number}.${call.id}`
    const hooked: HookedCall = {
      run: record.run,
      callId,
      tool: call.tool,
      arguments: call.arguments,
      step: enforcer.currentStep,
    }
    const left = await runBeforeToolCall(hooks, hooked)
    const veto = left.veto === null ? {} : { veto: left.veto }
    const outcome = await enforcer.call(call.tool, left.arguments, undefined, { callId, signal, ...veto })
    const replaced = await runAfterToolCall(hooks, { ...hooked, arguments: left.arguments, outcome })
    await this.#show(
      turn,
      call,
      outcome,
      replaced === undefined ? undefined : describeResult(replaced, this.#setup.maxResultBytes),
    )
    return outcome
  }

  #move(move: ControlMove, call: ProposedToolCall): CallOutcome {
    const { tool } = call
    const { enforcer } = this.#setup
    const step = enforcer.currentStep?.id ?? null
    const error = moveStep(enforcer.gate, move, controlText(move, call.arguments))
    if (error !== null) return { tool, enforcement: null, status: 'denied', error }
    return { tool, enforcement: null, status: 'succeeded', result: { step, [move]: true } }
  }

  async #finish(text: string): Promise<void> {
    const { accepted, status, remaining, unsettled } = this.#setup.enforcer.finish(text)
    if (accepted || status !== null) return
    this.#idle++
    const what = remaining.length > 0 ? `These required steps are not done: ${remaining.join(', ')}.` : ''
    const open = unsettled.length > 0 ? `Nobody has settled: ${unsettled.join(', ')}.` : ''
    const reminder = `[procedure]\nThis was not taken as your final answer. ${[what, open].filter((part) => part !== '').join(' ')} Go on with the procedure.`
    await this.#write({ type: 'agent.reminded', at: Date.now(), text: reminder })
    this.#messages.push({ role: 'user', content: reminder })
  }

  async #show(
    turn: OpenTurn,
    call: ProposedToolCall,
    outcome: CallOutcome,
    shown: ShownOutput | undefined,
  ): Promise<void> {
    const { enforcer, maxResultBytes } = this.#setup
    const limit = enforcer.gate.tools?.get(call.tool)?.maxResultBytes ?? maxResultBytes
    const output = shown ?? describeOutcome(enforcer.gate.state, outcome, limit)
    await this.#write({
      type: 'tool.returned',
      at: Date.now(),
      number: turn.fact.number,
      id: call.id,
      tool: call.tool,
      output,
    })
    turn.returned.set(call.id, output)
  }

  async #write(fact: AgentFact): Promise<void> {
    this.#setup.onEvent?.(fact)
    await this.#setup.enforcer.written()
    await this.#setup.record.write([fact])
  }
}
