import { Playbook } from '../../src/playbook/playbook.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { PlaybookLoadError } from '../../src/playbook/playbook-load-error.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { perform } from '../../src/run/perform.ts'
import { readState, writeState } from '../../src/run/state-json.ts'
import type { Json } from '../../src/shared/json.ts'
import { LockstepError } from '../../src/shared/lockstep-error.ts'
import type { EnforcerOptions, ProposedCall } from '../../src/tool/enforcer-options.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { type Tool, tool } from '../../src/tool/tool.ts'
import type { SchemaTemplate } from './condition-template.ts'
import { NaiveGate } from './naive-gate.ts'
import { isOpen, type Outcome, type Proposal } from './naive-state.ts'
import type { Operation } from './random-operation.ts'
import { extraTools, namedTools, type RandomPlaybook } from './random-playbook.ts'

/** How a random run is begun. */
export interface RunChoices {
  readonly enforced: boolean
  readonly flag: boolean
  readonly registered: boolean
}

const allTools = [...namedTools, ...extraTools]
const input: SchemaTemplate = {
  schema: { type: 'object', properties: { k: { type: ['integer', 'string'] } } },
  fits: (value) => typeof (value as { k?: Json }).k !== 'boolean',
}
const registry: readonly Tool[] = allTools.map((name) =>
  tool({ name, description: name, input: input.schema, execute: () => null }),
)

/** The playbook, or null if the product's own checks reject it. */
export function accept({ definition }: RandomPlaybook): Playbook | null {
  try {
    return new Playbook(definition)
  } catch (error) {
    if (error instanceof PlaybookLoadError) return null
    throw error
  }
}

/** One run in two implementations, which does everything twice. */
export class Pair {
  readonly playbook: Playbook
  readonly events: RunEvent[] = []
  enforcer: PlaybookEnforcer
  naive: NaiveGate
  #now = 1_000_000
  readonly #options: EnforcerOptions
  readonly #begin: () => NaiveGate

  constructor(playbook: Playbook, random: RandomPlaybook, choices: RunChoices) {
    this.playbook = playbook
    this.#options = {
      blockViolations: choices.enforced,
      inputs: { flag: choices.flag },
      clock: () => this.#now,
      onEvents: (events) => {
        if (events[0]?.type === 'run.started') this.events.length = 0
        this.events.push(...events)
      },
      ...(choices.registered ? { tools: registry } : {}),
    }
    this.#begin = () =>
      new NaiveGate(
        random.naive,
        {
          inputs: { flag: choices.flag },
          enforced: choices.enforced,
          finishAttempts: 2,
          tools: choices.registered ? Object.fromEntries(allTools.map((name) => [name, input])) : null,
        },
        this.#now,
      )
    this.enforcer = PlaybookEnforcer.fromPlaybook(playbook, this.#options)
    this.naive = this.#begin()
  }

  /** Does the same to both; what each says about it, to be compared. */
  apply(operation: Operation): { said: unknown; expected: unknown } {
    const [said, expected] = this.#both(operation)
    return {
      said: { said, ...this.observe() },
      expected: { said: expected, ...this.expect() },
    }
  }

  /** What the product shows of the run. */
  observe(): Record<string, unknown> {
    const { enforcer } = this
    const { activations } = enforcer.snapshot().state
    const at = new Map(activations.map((each) => [each.step, each]))
    return {
      steps: this.playbook.steps.map(({ id }) => {
        const { status, phase, visit, outOfOrder } = at.get(id) ?? {
          status: 'pending',
          phase: 'waiting',
          visit: 1,
          outOfOrder: false,
        }
        return `${id} ${status} ${phase} ${visit}${outOfOrder ? ' out of order' : ''}`
      }),
      current: enforcer.currentStep?.id ?? null,
      progress: enforcer.progress,
      complete: enforcer.isComplete,
      ended: enforcer.status,
      violations: enforcer.violations.map(({ violationType, blocked }) => `${violationType} ${blocked}`),
    }
  }

  /** What the naive gate says it should show. */
  expect(): Record<string, unknown> {
    const { naive } = this
    return {
      steps: naive.state.steps.map(
        ({ status, phase, visit, outOfOrder }, index) =>
          `${naive.playbook.steps[index]!.id} ${status} ${phase} ${visit}${outOfOrder ? ' out of order' : ''}`,
      ),
      current: naive.current === null ? null : naive.playbook.steps[naive.current]!.id,
      progress: naive.progress,
      complete: naive.complete,
      ended: naive.state.ended,
      violations: naive.state.violations.map(({ code, blocked }) => `${code} ${blocked}`),
    }
  }

  /** A second run in the same state, to try things out on. */
  copy(): PlaybookEnforcer {
    return PlaybookEnforcer.restore(this.playbook, this.enforcer.snapshot(), {
      ...(this.#options.tools === undefined ? {} : { tools: this.#options.tools }),
      clock: () => this.#now,
    })
  }

  /** Puts the run down as JSON text and takes it up again. */
  roundTrip(): void {
    const snapshot: unknown = JSON.parse(JSON.stringify(this.enforcer.snapshot()))
    this.#restore(snapshot as ReturnType<PlaybookEnforcer['snapshot']>)
  }

  #restore(snapshot: ReturnType<PlaybookEnforcer['snapshot']>): void {
    const { blockViolations: _block, inputs: _inputs, ...others } = this.#options
    this.enforcer = PlaybookEnforcer.restore(this.playbook, snapshot, others)
  }

  #both(operation: Operation): [said: unknown, expected: unknown] {
    const { enforcer, naive } = this
    const now = this.#now
    switch (operation.type) {
      case 'validate':
        return this.#validate(operation.call)
      case 'record': {
        const { calls } = naive.state
        const call = calls[operation.at % Math.max(1, calls.length)]
        const name = operation.tool ?? call?.tool ?? 'a'
        return this.#record(name, call?.id ?? 'none', operation)
      }
      case 'recordByName':
        return this.#record(operation.tool, null, operation)
      case 'proceed': {
        const legal = this.legalCalls(operation.k)
        const call = legal[operation.at % Math.max(1, legal.length)]
        if (call === undefined) return [null, null]
        const [said, expected] = this.#validate(call)
        if ((said as { allowed: boolean }).allowed === false) return [said, expected]
        this.#record(call.tool, naive.state.calls.at(-1)?.id ?? null, operation)
        return [said, expected]
      }
      case 'complete': {
        const { current } = naive
        const said = refusal(() => enforcer.completeCurrentStep(operation.result))
        if (current === null) return [said, false]
        naive.passTime(now)
        const done = naive.declare(current, 'host', operation.result)
        return [said, done ? naive.current !== null : 'step_not_completable']
      }
      case 'skip': {
        const { current } = naive
        const said = enforcer.skipCurrentStep()
        if (current === null) return [said, false]
        naive.passTime(now)
        return [said, naive.skip(current)]
      }
      case 'fail': {
        const { current } = naive
        enforcer.failCurrentStep('no')
        if (current !== null) {
          naive.passTime(now)
          naive.fail(current)
        }
        return [null, null]
      }
      case 'retry': {
        const index = this.#pickToRetry(operation.at)
        if (index === null) return [null, null]
        const said = refusal(() => enforcer.retryStep(this.playbook.steps[index]!.id))
        naive.passTime(now)
        return [said ?? 'retried', naive.retry(index) ? 'retried' : 'step_not_retryable']
      }
      case 'declare':
        return this.#declare(operation.at)
      case 'iterate': {
        const said = enforcer.beginIteration()
        naive.passTime(now)
        return [said, naive.iterate() || !naive.options.enforced]
      }
      case 'finish': {
        const { accepted } = enforcer.finish()
        naive.passTime(now)
        naive.finish()
        return [accepted, naive.state.ended === 'succeeded']
      }
      case 'wait':
        this.#now += operation.ms
        if (operation.notice) {
          enforcer.checkTime()
          naive.passTime(this.#now)
        }
        return [null, null]
      case 'roundTrip':
        this.roundTrip()
        return [null, null]
      case 'reset':
        return this.#reset()
      case 'forecast':
        return this.#forecast(operation.calls)
    }
  }

  #reset(): [unknown, unknown] {
    const { calls } = this.naive.state
    const said = refusal(() => this.enforcer.reset()) ?? null
    if (calls.some(isOpen)) return [said, 'calls_in_flight']
    this.naive = this.#begin()
    return [said, null]
  }

  /** The calls that the naive gate would let through now. */
  legalCalls(k: number): Proposal[] {
    const fork = this.naive.fork()
    fork.passTime(this.#now)
    return allTools
      .map((tool) => ({ tool, args: { k } }))
      .filter(({ tool, args }) => fork.judge(tool, args).code === null)
  }

  #validate(call: Proposal): [unknown, unknown] {
    const said = this.enforcer.validateToolCall(call.tool, proposed(call))
    this.naive.passTime(this.#now)
    const expected = this.naive.call(call, said.callId ?? 'refused')
    return [{ allowed: said.allowed, code: said.code }, expected]
  }

  #record(tool: string, callId: string | null, how: { outcome: Outcome; result?: Json }): [unknown, unknown] {
    this.enforcer.recordToolCall(tool, {
      ...(callId === null ? {} : { callId }),
      outcome: how.outcome,
      ...(how.result === undefined ? {} : { result: how.result }),
    })
    this.naive.passTime(this.#now)
    this.naive.record(tool, callId, how.outcome, how.result)
    return [null, null]
  }

  /** Rather a step that wants it than any. */
  #pickToRetry(at: number): number | null {
    const { steps } = this.naive.state
    const indexes = [...steps.keys()]
    const wanting = indexes.filter(
      (index) =>
        steps[index]!.status === 'failed' || ['escalated', 'undecided'].includes(steps[index]!.phase),
    )
    const from = wanting.length > 0 && at % 8 !== 0 ? wanting : indexes
    return from[at % Math.max(1, from.length)] ?? null
  }

  /** What a model says of a step passes the machine below the enforcer. */
  #declare(at: number): [unknown, unknown] {
    const index = at % Math.max(1, this.playbook.steps.length)
    const step = this.playbook.steps[index]?.id
    if (step === undefined) return [null, null]
    const snapshot = this.enforcer.snapshot()
    const state = readState(compilePlaybook(this.playbook), snapshot.state)
    const request = { type: 'complete', by: 'model', step, result: 'done' } as const
    const { answer, events } = perform(state, request, { now: this.#now })
    this.events.push(...events)
    this.#restore({ ...snapshot, state: writeState(state) })
    this.naive.passTime(this.#now)
    const done = this.naive.declare(index, 'model', 'done')
    return [!answer.some(({ type }) => type === 'step.refused'), done]
  }

  #forecast(calls: readonly Proposal[]): [unknown, unknown] {
    const said = this.enforcer
      .validateToolCalls(calls.map((call) => ({ tool: call.tool, ...proposed(call) })))
      .map(({ allowed, code }) => ({ allowed, code }))
    const fork = this.naive.fork()
    const expected = calls.map((call, index) => {
      fork.passTime(this.#now)
      const id = `forecast ${index}`
      const verdict = fork.call(call, id)
      if (verdict.allowed) fork.record(call.tool, call.callId ?? id, 'succeeded', undefined)
      return verdict
    })
    return [said, expected]
  }
}

/** A proposal as the enforcer takes it. */
export function proposed({ callId, args, veto }: Proposal): Omit<ProposedCall, 'tool'> {
  return {
    ...(callId === undefined ? {} : { callId }),
    ...(args === undefined ? {} : { arguments: args }),
    ...(veto === undefined ? {} : { veto }),
  }
}

function refusal<Value>(work: () => Value): Value | string {
  try {
    return work()
  } catch (error) {
    if (LockstepError.isInstance(error)) return error.code
    throw error
  }
}
