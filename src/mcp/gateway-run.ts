/**
 * One run behind a gateway.
 *
 * Owns: the enforcer and the record of one run.
 * Talks to: the gate, the only way to a tool; the journal.
 *
 * Invariants
 * W1  Every call of a client is judged by this run's enforcer, and nothing else leads to a tool.
 * W2  A call is answered, whatever happens: what goes wrong is an error the client can read.
 * W3  Each call counts as one turn of the model: a client does not say where a turn ends, and a limit must not be lost.
 */
import { randomUUID } from 'node:crypto'
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { Playbook } from '../playbook/playbook.ts'
import type { RunEvent } from '../run/event.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { checkInputs } from '../tool/check-inputs.ts'
import { controlMove, controlText, moveStep } from '../tool/control-tool.ts'
import { describeOutcome, describeRefusal, describeResult } from '../tool/describe-outcome.ts'
import type { EnforcerOptions } from '../tool/enforcer-options.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import type { CallOutcome } from '../tool/run-call.ts'
import type { RunDocuments } from '../tool/keep-documents.ts'
import type { RunRecord } from '../tool/run-record.ts'
import { nobodyToAsk, type ClientPerson, type GatewayApprovals } from './gateway-approvals.ts'
import type { GatewayTools } from './gateway-tools.ts'
import { Observation } from './observation.ts'
import { describePosition } from './position.ts'
import { RunApprovals } from './run-approvals.ts'

/** What MCP itself says with an answer; the upstream's word on that is not this gateway's. */
const reserved = 'io.modelcontextprotocol/'
/** How much a client is shown of the result of a tool that does not say so itself. */
const maxResultBytes = 65_536
/** The same for the answer of a server, which may hold pictures. */
const maxAnswerBytes = 1_048_576

/** What a run is made from. */
export interface GatewayRunSetup {
  readonly tools: GatewayTools
  readonly record: RunRecord
  readonly options: Omit<EnforcerOptions, 'tools' | 'onEvents'>
  /** The events so far of a run that is taken up; null for a new one. */
  readonly events: readonly RunEvent[] | null
  /** The policies it stands under, and whose run it is; without it no policy is asked. */
  readonly policy?: { readonly approvals: GatewayApprovals; readonly principal: string }
}

/** What a client is answered: what came of its call, or what its person is to say first. */
export type GatewayAnswer = CallToolResult | InputRequiredResult

/** A run that clients call into. */
export class GatewayRun {
  readonly enforcer: PlaybookEnforcer
  readonly observation: Observation
  readonly #tools: GatewayTools
  readonly #record: RunRecord
  readonly #approvals: RunApprovals | null
  readonly #documents: RunDocuments
  readonly #inFlight = new Set<Promise<unknown>>()

  /** Begins a run, or takes one up; calls that were in flight then are settled as far as anybody knows. */
  constructor(setup: GatewayRunSetup) {
    this.#tools = setup.tools
    this.#record = setup.record
    this.observation = new Observation()
    const { policy } = setup
    this.#approvals =
      policy === undefined ? null : new RunApprovals(setup.record.run, policy.principal, policy.approvals)
    const { playbook } = setup.tools
    const registry = setup.tools.registryFor(inputsOf(playbook, setup))
    const { shared } = setup.record
    const governed =
      policy === undefined ? {} : { policy: { shared, ...policy.approvals.setupFor(policy.principal) } }
    this.#documents = { playbook, policies: governed.policy?.policies ?? [], tools: registry }
    const options = {
      ...setup.options,
      ...governed,
      tools: registry,
      onEvents: (events: readonly RunEvent[]) => {
        this.observation.hear(events)
        this.#approvals?.hear(events)
        return setup.record.write(events, registry)
      },
    }
    if (setup.events === null) {
      this.enforcer = PlaybookEnforcer.fromPlaybook(playbook, options)
      return
    }
    this.observation.hear(setup.events)
    this.#approvals?.hear(setup.events)
    this.enforcer = PlaybookEnforcer.fromEvents(playbook, setup.events, options)
    this.#settleInterrupted()
  }

  get run(): string {
    return this.#record.run
  }

  /** Writes down that a gateway serves this run, and what that does not cover. */
  async open(fact: JsonObject): Promise<void> {
    await this.enforcer.written()
    await this.#record.keep(this.#documents)
    await this.#record.write([{ type: 'gateway.opened', at: Date.now(), ...fact }])
  }

  /** Writes down what a client asks a server for besides calls; if it cannot be written, it must not be asked. */
  async note(fact: JsonObject): Promise<void> {
    await this.#record.write([{ type: 'gateway.passed', at: Date.now(), ...fact }])
  }

  /** Waits until no call is in flight and everything is written down. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#inFlight)
    await this.enforcer.written()
  }

  /** Judges a call of a client and carries it out (W1, W2). */
  async call(
    called: string,
    args: JsonObject,
    signal: AbortSignal,
    person: ClientPerson = nobodyToAsk,
  ): Promise<GatewayAnswer> {
    const answer = this.#answer(called, args, signal, person)
    this.#inFlight.add(answer)
    try {
      const told = await answer
      // A refusal, a question, an unknown outcome or an end that was told is on record. A success need not wait for that: if a crash loses
      // it, the call was admitted on record and counts as unknown afterwards, never as not made.
      if (told['isError'] === true || 'inputRequests' in told || this.enforcer.status !== null)
        await this.enforcer.written()
      return told
    } catch (error) {
      return this.#refuse('record_failed', error instanceof Error ? error.message : String(error))
    } finally {
      this.#inFlight.delete(answer)
    }
  }

  async #answer(
    called: string,
    args: JsonObject,
    signal: AbortSignal,
    person: ClientPerson,
  ): Promise<GatewayAnswer> {
    try {
      const move = controlMove(called)
      if (called === 'finish') return this.#finish(args)
      if (move !== null) {
        const refused = moveStep(this.enforcer.gate, move, controlText(move, args))
        if (refused === null) return this.#done([text(`${called}: done.`)])
        // Who only observes refuses nothing because of the playbook (G13).
        return this.enforcer.blockViolations
          ? this.#refuse('step_refused', refused)
          : this.#done([text(`${called}: noted.`)])
      }
      // Where nothing limits the turns there is nothing to count, and nothing to write down.
      if (this.#tools.playbook.maxIterations !== null) this.enforcer.beginIteration()
      const name = this.#tools.bound.nameOf(called)
      const approvals = this.#approvals
      if (approvals === null) return await this.#callTool(name, args, signal, randomUUID())
      return await approvals.inTurn(name, args, () => this.#callUnder(approvals, name, args, signal, person))
    } catch (error) {
      if (LockstepError.isInstance(error)) return this.#refuse(error.code, error.message)
      return this.#refuse('internal', error instanceof Error ? error.message : String(error))
    }
  }

  /** A call under policies: found again if it is held, and told what it waits for. */
  async #callUnder(
    approvals: RunApprovals,
    name: string,
    args: JsonObject,
    signal: AbortSignal,
    person: ClientPerson,
  ): Promise<GatewayAnswer> {
    // Nobody waits for the answer: an approval is not used up for that.
    if (signal.aborted) return this.#refuse('not_executed', 'it was cancelled before it began')
    const note = (fact: JsonObject) =>
      this.#record.write([{ type: 'gateway.vote_refused', at: Date.now(), ...fact }])
    const { callId, refusal } = await approvals.stand(this.enforcer.gate, name, args, person, note)
    if (refusal === null) return await this.#callTool(name, args, signal, callId, { approvals, person })
    // Refused at the gate like any other call, so that the record tells of it.
    await this.enforcer.call(name, args, undefined, { callId, veto: refusal.message })
    return this.#refuse(refusal.code, `'${name}' was not approved: ${refusal.message}.`)
  }

  async #callTool(
    name: string,
    args: JsonObject,
    signal: AbortSignal,
    callId: string,
    asking: { readonly approvals: RunApprovals; readonly person: ClientPerson } | null = null,
  ): Promise<GatewayAnswer> {
    await this.#tools.settled(name)
    const veto = this.#tools.veto(name)
    const outcome = await this.enforcer.call(name, args, undefined, {
      callId,
      signal,
      ...(veto === null ? {} : { veto }),
    })
    const answer = this.#tools.takeAnswer(name, `${this.run}/${callId}`)
    if (outcome.status === 'held' && asking !== null) {
      const told = asking.approvals.tell(this.enforcer.gate, callId, asking.person)
      return isQuestion(told) ? told : this.#refuse('pending', String(told['message']), told)
    }
    if (outcome.status !== 'succeeded') return this.#explain(outcome)
    if (answer === null) return this.#done(this.#content(outcome.result, name, maxResultBytes))
    const most = this.#tools.bound.get(name)?.tool.maxResultBytes ?? maxAnswerBytes
    const { content, structuredContent } = answer
    const size = Buffer.byteLength(JSON.stringify([content, structuredContent ?? null]))
    if (size <= most) return this.#done(content, answer)
    if (structuredContent === undefined)
      return this.#done(this.#content(outcome.result, name, maxAnswerBytes))
    // Cut data is no data; and a client that was promised some takes nothing else for a success.
    const message = `The call succeeded, but its result has ${size} bytes, more than the ${most} that may pass. Do not repeat it.`
    return this.#error({ executed: true, outcome: 'succeeded', message })
  }

  /** Hands in the final answer (G9). */
  #finish(args: JsonObject): CallToolResult {
    const message = typeof args['message'] === 'string' ? args['message'] : null
    if (!this.enforcer.blockViolations) {
      this.enforcer.finish(message)
      return this.#done([text('The final answer is noted.')])
    }
    if (this.enforcer.status !== null) {
      return this.#refuse('run_ended', `The run has ended before: ${this.enforcer.status}.`)
    }
    const { accepted, status, remaining, unsettled } = this.enforcer.finish(message)
    if (accepted) return this.#done([text('The final answer is accepted. The run has succeeded.')])
    const { byCallId } = this.enforcer.gate.state
    const held = unsettled.filter((id) => byCallId.get(id)?.state === 'held')
    const lost = unsettled.filter((id) => !held.includes(id))
    const waiting = held.map((id) => byCallId.get(id)!.tool)
    const why = [
      ...(remaining.length === 0 ? [] : [`required steps are not done: ${remaining.join(', ')}`]),
      ...(lost.length === 0 ? [] : [`nobody knows what became of calls: ${lost.join(', ')}`]),
      ...(held.length === 0 ? [] : [`calls wait for approval: ${waiting.join(', ')}`]),
    ]
    const end = status === null ? 'Go on with the procedure.' : `The run ends ${status}.`
    return this.#refuse('finish_refused', `The final answer is not accepted: ${why.join('; ')}. ${end}`)
  }

  #done(content: CallToolResult['content'], answer: Partial<CallToolResult> = {}): CallToolResult {
    const position = this.#position()
    const meta = Object.entries(answer['_meta'] ?? {}).filter(([key]) => !key.startsWith(reserved))
    return {
      // Who only observes is not to change what the agent reads.
      content: this.enforcer.blockViolations ? [...content, text(position.text)] : content,
      ...(answer.structuredContent === undefined ? {} : { structuredContent: answer.structuredContent }),
      _meta: { ...Object.fromEntries(meta), 'lockstep/procedure': position.data },
    }
  }

  #explain(outcome: CallOutcome): CallToolResult {
    const { state } = this.enforcer.gate
    const shown = describeOutcome(state, outcome, Number.MAX_SAFE_INTEGER)
    if (shown.type === 'error-json') {
      return this.#refuse(String(shown.value['code']), String(shown.value['message']))
    }
    const value = { executed: true, outcome: outcome.status, message: String(shown.value) }
    return this.#error(value)
  }

  /** A refusal: an error that says what was not done, why, and what to do instead. */
  #refuse(code: string, message: string, more: JsonObject = {}): CallToolResult {
    const { state } = this.enforcer.gate
    const shown = describeRefusal(state, code, message).value as JsonObject
    const next = { ...this.#position().data }
    return this.#error({ ...shown, allowed: next['allowed'] as Json, ...more })
  }

  #error(value: JsonObject): CallToolResult {
    const position = this.#position()
    return {
      isError: true,
      content: [text(JSON.stringify(value)), text(position.text)],
      structuredContent: { ...value, procedure: position.data },
      _meta: { 'lockstep/procedure': position.data },
    }
  }

  #content(result: Json | undefined, name: string, otherwise: number): CallToolResult['content'] {
    const most = this.#tools.bound.get(name)?.tool.maxResultBytes ?? otherwise
    const { value } = describeResult(result ?? null, most)
    return [text(typeof value === 'string' ? value : JSON.stringify(value))]
  }

  #position(): { data: JsonObject; text: string } {
    return describePosition(this.run, this.enforcer.gate.state, (name) => this.#tools.bound.shownOf(name))
  }

  #settleInterrupted(): void {
    for (const ticket of this.enforcer.gate.state.openTickets) {
      // An unknown outcome stays open; what became of it is not asked twice. What waits for an approval was not sent.
      if (ticket.state === 'unknown' || ticket.state === 'held') continue
      const read = this.#tools.bound.registry.get(ticket.tool)?.risk === 'read'
      const outcome = read ? 'failed' : 'unknown'
      this.enforcer.recordToolCall(ticket.tool, {
        callId: ticket.callId,
        outcome,
        error: 'the gateway was interrupted',
      })
    }
  }
}

/** What a run was begun with counts until its end, whatever is given when it is taken up. */
function inputsOf(playbook: Playbook, { options, events }: GatewayRunSetup): JsonObject {
  const started = events?.find((event) => event.type === 'run.started')
  return started?.inputs ?? checkInputs(playbook, options.inputs)
}

function isQuestion(told: InputRequiredResult | JsonObject): told is InputRequiredResult {
  return 'inputRequests' in told
}

function text(value: string): { type: 'text'; text: string } {
  return { type: 'text', text: value }
}
