/**
 * The state of one run.
 *
 * Owns: activations, tickets and the indexes that answer conditions.
 * Talks to: nothing; `evolve` is its only writer.
 *
 * Invariants
 * S1  It follows from the run's events alone: replaying them gives an equal state.
 * S2  `evolve` takes the state over and changes it in place; whoever needs the earlier one copies it first.
 * S3  `open` holds, in order, every step that awaits something: open, undecided or escalated.
 * S4  `toJudge`, `toWeigh` and `dirty` only say where to look next; losing them costs time, never a decision.
 */
import { LazyRecord, type ExpressionValue } from '../expression/expression-value.ts'
import type { CompiledPlaybook } from '../playbook/compile-playbook.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { createActivation, type Activation } from './activation.ts'
import type { EventOf, RunEnd } from './event.ts'
import type { Compensation } from './compensation.ts'
import { PastIndexes } from './past-indexes.ts'
import { shapeOf, type ProcedureShape } from './procedure-shape.ts'
import { createProgramState, type ProgramState } from './program/program-state.ts'
import type { Ticket } from './ticket.ts'
import type { Violation } from './violation.ts'

/** The number of the rules by which verdicts are made; a run keeps the one it started with. */
export const semantics = 1

export interface RunState {
  readonly compiled: CompiledPlaybook
  readonly shape: ProcedureShape
  /** Where the program stands, if the playbook is one; then it alone says which step is due. */
  readonly program: ProgramState | null
  readonly semantics: number
  /** The run's own name, unique everywhere: idempotency keys are made of it. */
  readonly run: string
  readonly inputs: JsonObject
  /** False where the playbook only observes (G13). */
  readonly enforced: boolean
  /** How many early final answers are sent back before the run ends incomplete. */
  readonly finishAttempts: number
  /** In a dry run, what only a made call could tell is not known, and is passed over. */
  readonly mode: 'execute' | 'dry-run'
  readonly startedAt: number
  /** The latest time seen; a clock that goes back does not take the run with it. */
  clock: number
  ended: RunEnd | null
  message: string | null
  /** The current visit of each step, by position. */
  readonly activations: (Activation | undefined)[]
  /** Earlier visits, oldest first. */
  readonly previous: Activation[]
  readonly tickets: Ticket[]
  readonly byCallId: Map<string, Ticket>
  readonly openTickets: Set<Ticket>
  /** Those of the open tickets that wait for people, or to be made after they said yes. */
  readonly held: Set<Ticket>
  /** Those of the open tickets whose outcome nobody knows. */
  readonly unknown: Set<Ticket>
  readonly past: PastIndexes
  readonly stepsView: LazyRecord
  readonly open: number[]
  readonly lingering: number[]
  /** Steps that were complete and have a call in flight again. */
  readonly reopened: number[]
  /** Active steps with a timeout. */
  readonly timed: Activation[]
  /** Steps whose predecessors are met and whose `when` awaits judgement. */
  readonly toJudge: number[]
  /** Steps whose evidence awaits another look. */
  readonly toWeigh: number[]
  /** Open call steps of which a call may be due, now or at some time. */
  readonly callable: number[]
  /** Who paused the run, and why; null while nobody has. */
  suspension: Stoppage | null
  /** Who cancelled the run, and why. */
  cancellation: Stoppage | null
  /** What is being undone; null while nothing is. */
  compensation: Compensation | null
  /** Steps that are not done. */
  remaining: number
  failedRequired: number
  paused: number
  /** Outcomes recorded so far. */
  settlements: number
  totalToolCalls: number
  /** Calls that had, or may have had, an effect: all that were let through, but those that were not executed. */
  made: number
  extraCalls: number
  unadmittedCalls: number
  iterations: number
  finishRefusals: number
  readonly errors: string[]
  readonly violations: Violation[]
  /** Violations beyond those kept. */
  violationsDropped: number
  /** Grows with every event, so that a view knows when it is stale. */
  version: number
}

/** Somebody's word that a run is to stop. */
export interface Stoppage {
  readonly by: string
  readonly reason: string | null
}

/** The state a run begins in, before any step is open. */
export function createState(compiled: CompiledPlaybook, started: EventOf<'run.started'>): RunState {
  const state: RunState = {
    compiled,
    shape: shapeOf(compiled),
    program: compiled.program === null ? null : createProgramState(compiled.program.agents.keys()),
    semantics: started.semantics,
    run: started.run,
    inputs: started.inputs,
    enforced: started.enforced,
    finishAttempts: started.finishAttempts,
    mode: started.mode ?? 'execute',
    startedAt: started.at,
    clock: started.at,
    ended: null,
    message: null,
    activations: Array.from({ length: compiled.steps.length }, () => undefined),
    previous: [],
    tickets: [],
    byCallId: new Map(),
    openTickets: new Set(),
    held: new Set(),
    unknown: new Set(),
    past: new PastIndexes(compiled.pastByTool),
    stepsView: new StepsView(() => state),
    open: [],
    lingering: [],
    reopened: [],
    timed: [],
    toJudge: [],
    toWeigh: [],
    callable: [],
    suspension: null,
    cancellation: null,
    compensation: null,
    remaining: compiled.steps.length,
    failedRequired: 0,
    paused: 0,
    settlements: 0,
    totalToolCalls: 0,
    made: 0,
    extraCalls: 0,
    unadmittedCalls: 0,
    iterations: 0,
    finishRefusals: 0,
    errors: [],
    violations: [],
    violationsDropped: 0,
    version: 0,
  }
  return state
}

/** The current visit of a step, begun if there is none. */
export function activationOf(state: RunState, index: number): Activation {
  return (state.activations[index] ??= createActivation(index, 1, state.compiled.steps[index]!.keywords))
}

/** Says whether every step is done and no call is unaccounted for. */
export function isComplete(state: RunState): boolean {
  if (state.program !== null) return state.ended === 'succeeded'
  return state.remaining === 0 && state.openTickets.size === 0
}

/** The position of the step that is due: the earliest that awaits something, else the earliest that failed; null if none. */
export function currentStep(state: RunState): number | null {
  if (state.program !== null) {
    const { pending, frames } = state.program
    const due = pending?.kind === 'call' || pending?.kind === 'act' ? pending.step : frames.at(-1)?.at
    return due == null ? null : (state.compiled.positions.get(due) ?? null)
  }
  const first = state.open[0]
  if (first !== undefined) {
    // What the runtime does by itself is nobody's turn, as long as there is something for a model.
    if (!state.shape.hasCalls || state.shape.isRunbook) return first
    return state.open.find((index) => state.compiled.steps[index]!.call === null) ?? first
  }
  if (state.failedRequired === 0) return null
  const failed = state.compiled.steps.find(
    (step) => step.required && state.activations[step.index]?.status === 'failed',
  )
  return failed?.index ?? null
}

/** What the call of a call step gave, a list where it goes through items; undefined before it succeeded, and where it was only shown. */
function outputOf(state: RunState, { work, step, status, by }: Activation): Json | undefined {
  // Where somebody else declared it done, nobody knows what it would have given.
  if (work === null || status !== 'completed' || by !== 'evidence') return undefined
  if (work.output !== undefined) return work.output
  if (work.unknownItems || work.slots.some(({ made }) => made?.shown === true)) return undefined
  const results = work.slots.map(({ made }) => made?.result ?? null)
  return (work.output = state.compiled.steps[step]!.call!.foreach === null ? results[0] : results)
}

/** `steps` as conditions see it: `steps.verify.status`, `.result`, `.calls`, and of a call step `.output`. */
class StepsView extends LazyRecord {
  readonly #state: () => RunState

  constructor(state: () => RunState) {
    super()
    this.#state = state
  }

  override get(key: string): ExpressionValue | undefined {
    const state = this.#state()
    const index = state.compiled.positions.get(key)
    if (index === undefined) return undefined
    const activation = state.activations[index]
    const seen = {
      status: activation?.status ?? 'pending',
      result: activation?.result ?? null,
      calls: activation?.results.length ?? 0,
    }
    const output = activation === undefined ? undefined : outputOf(state, activation)
    return output === undefined ? seen : { ...seen, output }
  }

  override keys(): readonly string[] {
    return this.#state().compiled.playbook.steps.map((step) => step.id)
  }
}
