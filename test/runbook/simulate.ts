import { compilePlaybook, type CompiledPlaybook } from '../../src/playbook/compile-playbook.ts'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import type { PolicyFact } from '../../src/run/approval.ts'
import { dueCalls, type DueCall } from '../../src/run/due-calls.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { passTime, perform, replay, startRun } from '../../src/run/perform.ts'
import type { Facts, RunRequest } from '../../src/run/request.ts'
import type { RunState } from '../../src/run/state.ts'
import type { Outcome, Undo } from '../../src/run/ticket.ts'
import type { Json, JsonObject } from '../../src/shared/json.ts'

/** How one call ends. */
export interface ScriptedOutcome {
  readonly outcome?: Outcome
  readonly result?: Json
  readonly error?: string
  /** Milliseconds until it does. */
  readonly takes?: number
  readonly shown?: true
  readonly undo?: Undo
}

/** What a test says of a run: how its calls end, what policies say, and what people ask for when. */
export interface Script {
  readonly inputs?: JsonObject
  readonly mode?: 'dry-run'
  readonly risks?: { readonly [tool: string]: 'read' | 'write' | 'irreversible' }
  /** By the id of the call, or by its id without the attempt, one for each attempt; what is not named succeeds with its id as the result. */
  readonly outcomes?: { readonly [callId: string]: ScriptedOutcome | readonly ScriptedOutcome[] }
  /** How a call ends, where that is not told beforehand. */
  readonly play?: (call: DueCall) => ScriptedOutcome
  readonly needApproval?: readonly string[]
  /** How long an approval may be given and used, in seconds. */
  readonly approvalSeconds?: number
  readonly forbidden?: readonly string[]
  readonly requests?: readonly (Exclude<RunRequest, { type: 'settle' }> | SettleLater)[] &
    readonly { readonly at: number }[]
}

/** Something that somebody asks for at a time. */
export type TimedRequest = NonNullable<Script['requests']>[number]

interface SettleLater {
  readonly type: 'settle'
  readonly callId: string
  readonly outcome: Outcome
  readonly result?: Json
}

interface Flying {
  readonly call: DueCall
  readonly scripted: ScriptedOutcome
  readonly ends: number
}

/** Compiles a runbook; throws what is wrong with it. */
export function compileRunbook(text: string): CompiledPlaybook {
  const { playbook, diagnostics } = parsePlaybook(text, { format: 'yaml' })
  if (playbook === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return compilePlaybook(playbook)
}

/** A run of a runbook in which time, tools and people are played by a script. It does what a driver does, and decides nothing. */
export class Simulation {
  readonly compiled: CompiledPlaybook
  readonly script: Script
  state: RunState
  readonly events: RunEvent[] = []
  /** Each group of events that would be written down together. */
  readonly appends: (readonly RunEvent[])[] = []
  /** Which call was made when. */
  readonly calls: string[] = []
  readonly sent: { readonly [callId: string]: JsonObject } = {}
  now = 0
  readonly #flying: Flying[] = []
  readonly #pending: { readonly at: number }[]
  readonly #attempts = new Map<string, number>()
  /** Called after every append. */
  onAppend: () => void = () => undefined
  /** Called before the calls that are due are made. */
  onTurn: () => void = () => undefined

  constructor(compiled: CompiledPlaybook, script: Script) {
    this.compiled = compiled
    this.script = script
    this.#pending = [...(script.requests ?? [])].sort((one, other) => one.at - other.at)
    const { inputs = {}, mode } = script
    const dry = mode === undefined ? {} : { mode }
    const start = { run: 'r', inputs, enforced: true, finishAttempts: 2, ...dry }
    const { state, events } = startRun(compiled, start, { now: 0 })
    this.state = state
    this.#append(events)
  }

  /** Goes on until the run has ended or nothing would happen any more. */
  run(most = 100_000): this {
    for (let step = 0; step < most && this.state.ended === null; step++) {
      this.#append(passTime(this.state, { now: this.now }))
      this.#ask()
      this.#land()
      this.onTurn()
      const { due, next, expires } = dueCalls(this.state, this.now)
      for (const call of due) this.#make(call)
      if (due.length > 0) continue
      const times = [
        ...(next === null ? [] : [next]),
        ...(expires === null ? [] : [expires]),
        ...this.#flying.map(({ ends }) => ends),
        ...this.#pending.map(({ at }) => at),
      ].filter((time) => time > this.now)
      if (times.length === 0) {
        if (this.#flying.length === 0) return this
        continue
      }
      this.now = Math.min(...times)
    }
    return this
  }

  /** As after a crash: the state is built anew from what was written down. */
  restart(): void {
    this.state = replay(this.compiled, this.events)
  }

  /** As after a crash with calls in flight: whoever takes the run up finds out what became of each. */
  crash(find: (call: DueCall) => ScriptedOutcome): void {
    this.restart()
    for (const { call } of this.#flying.splice(0)) {
      const { callId, tool } = call
      const { outcome = 'succeeded', result = callId } = find(call)
      const gave = outcome === 'succeeded' ? { result } : {}
      this.#perform({ type: 'settle', callId, tool, outcome, ...gave }, {})
    }
  }

  /** Asks for something now. */
  request(request: RunRequest): void {
    this.#perform(request, {})
  }

  #append(events: readonly RunEvent[]): void {
    if (events.length === 0) return
    this.events.push(...events)
    this.appends.push(events)
    this.onAppend()
  }

  #ask(): void {
    while (this.#pending[0] !== undefined && this.#pending[0].at <= this.now) {
      const { at: _, ...asked } = this.#pending.shift()! as { at: number } & RunRequest
      const request = asked as RunRequest
      const tool =
        request.type === 'settle' ? { tool: this.state.byCallId.get(request.callId!)?.tool ?? '' } : {}
      this.#perform({ ...request, ...tool }, {})
    }
  }

  #land(): void {
    const landed = this.#flying.filter(({ ends }) => ends <= this.now)
    for (const flight of landed.sort((one, other) => one.ends - other.ends)) {
      this.#flying.splice(this.#flying.indexOf(flight), 1)
      const { call, scripted } = flight
      const { takes: _, outcome = 'succeeded', ...how } = scripted
      const result = outcome === 'succeeded' ? { result: how.result ?? call.callId } : {}
      this.#perform({ type: 'settle', callId: call.callId, tool: call.tool, outcome, ...how, ...result }, {})
    }
  }

  #make(call: DueCall): void {
    const { callId, tool, args } = call
    const facts = { risk: this.#riskOf(call), policy: this.policyOf(tool) }
    const answer = this.#perform({ type: 'call', callId, tool, args }, facts)
    if (!answer.some(({ type }) => type === 'tool.admitted')) return
    this.calls.push(this.now === 0 ? callId : `${callId} at ${this.now}`)
    Object.assign(this.sent, { [callId]: args })
    const scripted = this.script.play?.(call) ?? this.#outcomeOf(call)
    this.#flying.push({ call, scripted, ends: this.now + (scripted.takes ?? 0) })
  }

  #outcomeOf({ callId, key }: DueCall): ScriptedOutcome {
    const { outcomes = {} } = this.script
    const own = outcomes[callId]
    if (callId !== key && own !== undefined && !Array.isArray(own)) return own as ScriptedOutcome
    const said = outcomes[key]
    if (said === undefined) return {}
    if (!Array.isArray(said)) return said as ScriptedOutcome
    const attempt = this.#attempts.get(key) ?? 0
    this.#attempts.set(key, attempt + 1)
    return (said as readonly ScriptedOutcome[])[Math.min(attempt, said.length - 1)]!
  }

  #riskOf({ tool, purpose }: DueCall): NonNullable<Facts['risk']> {
    return this.script.risks?.[tool] ?? (purpose === 'verify' ? 'read' : 'write')
  }

  /** What policies say to a call of the tool. */
  policyOf(tool: string): PolicyFact | null {
    const { needApproval = [], forbidden = [], approvalSeconds = 3600 } = this.script
    const base = { code: 'policy_rule', demands: [], expiresAfterSeconds: approvalSeconds, record: {} }
    if (forbidden.includes(tool)) return { ...base, verdict: 'deny', reason: 'nobody may' }
    if (needApproval.includes(tool)) return { ...base, verdict: 'needs_approval', reason: 'people decide' }
    return null
  }

  #perform(request: RunRequest, facts: Omit<Facts, 'now'>): readonly RunEvent[] {
    const { events, answer } = perform(this.state, request, { ...facts, now: this.now })
    this.#append(events)
    return answer
  }
}
