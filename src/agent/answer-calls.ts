/**
 * Answers the calls of one turn: hooks, the gate, the tool, and what the model is shown of it.
 *
 * Invariants
 * C1  Hooks run in the order of the turn, and a call reaches the gate before the next one's hooks begin.
 * C2  A call that the record knows already is not made again: a resumed turn shows what became of it (A2).
 * C3  The record keeps what the tool said; only what the model is shown can be replaced.
 */
import type { Ticket } from '../run/ticket.ts'
import { controlMove, controlText, moveStep, type ControlMove } from '../tool/control-tool.ts'
import { describeOutcome, describeResult, type ShownOutput } from '../tool/describe-outcome.ts'
import { EnforcementResult } from '../tool/enforcement-result.ts'
import { riskOf, type CallOutcome } from '../tool/run-call.ts'
import { runTurn, type TurnItem } from '../tool/run-turn.ts'
import { runAfterToolCall, runBeforeToolCall, type HookedCall } from './hook.ts'
import { makeCall } from './make-call.ts'
import type { ProposedToolCall } from './model-turn.ts'
import type { OpenTurn, RecordedMove } from './read-record.ts'
import { writeFact, type RunSetup } from './run-setup.ts'

/** Carries out what the turn asks for, as far as its record does not say it is done; how each call ended, in order (G5). */
export async function answerCalls(setup: RunSetup, turn: OpenTurn): Promise<readonly CallOutcome[]> {
  const answer = new CallAnswer(setup, turn)
  const outcomes = await runTurn(turn.fact.calls.map((call) => answer.item(call)))
  // What waits for people is not answered yet: the turn stays open, and is gone through again when they have decided.
  if (outcomes.some(({ status }) => status === 'held')) return outcomes
  for (const [index, call] of turn.fact.calls.entries()) {
    if (!turn.returned.has(call.id)) await answer.show(call, outcomes[index]!, undefined)
  }
  return outcomes
}

class CallAnswer {
  readonly #setup: RunSetup
  readonly #turn: OpenTurn
  #line: Promise<unknown> = Promise.resolve()

  constructor(setup: RunSetup, turn: OpenTurn) {
    this.#setup = setup
    this.#turn = turn
  }

  item(call: ProposedToolCall): TurnItem {
    const { enforcer } = this.#setup
    const { tool } = call
    const returned = this.#turn.returned.get(call.id)
    const move = enforcer.playbook.steps.length === 0 ? null : controlMove(tool)
    const shared = move === null && riskOf({ tool }, enforcer.gate.tools) === 'read'
    if (returned !== undefined) return { tool, shared, run: async () => known(tool, returned.status) }
    return { tool, shared, run: () => (move === null ? this.#call(call) : this.#move(move, call)) }
  }

  async show(call: ProposedToolCall, outcome: CallOutcome, shown: ShownOutput | undefined): Promise<void> {
    const { enforcer, maxResultBytes } = this.#setup
    const { tool, id } = call
    const limit = enforcer.gate.tools?.get(tool)?.maxResultBytes ?? maxResultBytes
    const output = shown ?? describeOutcome(enforcer.gate.state, outcome, limit, enforcer.gate.tools)
    const { status } = outcome
    const { number } = this.#turn.fact
    await writeFact(this.#setup, { type: 'tool.returned', at: Date.now(), number, id, tool, status, output })
    this.#turn.returned.set(id, { status, output })
  }

  async #call(call: ProposedToolCall): Promise<CallOutcome> {
    const { enforcer, hooks, record, maxResultBytes } = this.#setup
    // A model may use an id again in another turn; in the run every call has its own.
    const callId = `${this.#turn.fact.number}.${call.id}`
    const { tool } = call
    const hooked: HookedCall = {
      run: record.run,
      callId,
      tool,
      arguments: call.arguments,
      step: enforcer.currentStep,
      signal: this.#setup.signal,
    }
    const ticket = enforcer.gate.state.byCallId.get(callId)
    const denied = this.#turn.denied.get(callId)
    const { args, outcome } =
      ticket !== undefined && ticket.state !== 'held'
        ? { args: ticket.args ?? {}, outcome: settled(ticket) }
        : denied !== undefined
          ? { args: denied.args ?? {}, outcome: refused(tool, denied) }
          : await this.#make(hooked)
    if (outcome.status === 'held') return outcome
    const replaced = await runAfterToolCall(hooks, { ...hooked, arguments: args, outcome })
    await this.show(
      call,
      outcome,
      replaced === undefined ? undefined : describeResult(replaced, maxResultBytes),
    )
    return outcome
  }

  async #make(hooked: HookedCall): Promise<{ readonly args: unknown; readonly outcome: CallOutcome }> {
    const before = this.#line.then(() => runBeforeToolCall(this.#setup.hooks, hooked))
    this.#line = before
    return await makeCall(this.#setup, hooked, await before)
  }

  async #move(move: ControlMove, call: ProposedToolCall): Promise<CallOutcome> {
    const made = this.#turn.move
    this.#turn.move = null
    const outcome = made === null ? this.#moveNow(move, call) : moved(move, call.tool, made)
    await this.show(call, outcome, undefined)
    return outcome
  }

  #moveNow(move: ControlMove, { tool, arguments: args }: ProposedToolCall): CallOutcome {
    const { enforcer } = this.#setup
    const step = enforcer.currentStep?.id ?? null
    const error = moveStep(enforcer.gate, move, controlText(move, args))
    if (error !== null) return { tool, enforcement: null, status: 'denied', error }
    return { tool, enforcement: null, status: 'succeeded', result: { step, [move]: true } }
  }
}

/** What became of a call that the model was shown already. */
function known(tool: string, status: CallOutcome['status']): CallOutcome {
  return status === 'succeeded'
    ? { tool, enforcement: null, status, result: undefined }
    : { tool, enforcement: null, status, error: 'it was not done' }
}

/** What became of a call whose ticket is in the record. */
function settled(ticket: Ticket): CallOutcome {
  const { tool, state, result } = ticket
  if (state === 'succeeded') return { tool, enforcement: null, status: 'succeeded', result }
  const status = state === 'failed' || state === 'not_executed' ? state : 'unknown'
  return { tool, enforcement: null, status, error: ticket.error ?? 'the run was interrupted' }
}

function refused(
  tool: string,
  { code, message }: { code: EnforcementResult['code']; message: string },
): CallOutcome {
  const enforcement = new EnforcementResult({ allowed: false, code, message })
  return { tool, enforcement, status: 'denied', error: message }
}

function moved(move: ControlMove, tool: string, made: RecordedMove): CallOutcome {
  if (made.type === 'step.refused') {
    const error = `Step '${made.step}' cannot ${move}: ${made.reasons.join('; ')}.`
    return { tool, enforcement: null, status: 'denied', error }
  }
  return { tool, enforcement: null, status: 'succeeded', result: { step: made.step, [move]: true } }
}
