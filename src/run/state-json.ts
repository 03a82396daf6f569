import type { CompiledPlaybook } from '../playbook/compile-playbook.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { createActivation, type Activation } from './activation.ts'
import { readCallId } from './call-id.ts'
import { createCallWork } from './call-work.ts'
import { beginCompensation, type Compensation, noteUndoing, noteUndone } from './compensation.ts'
import { credit } from './credit.ts'
import type { RunEnd } from './event.ts'
import { makeReady } from './evolve.ts'
import { admitCall, settleCall, updateCallable } from './evolve-calls.ts'
import type { ProgramState } from './program/program-state.ts'
import { createState, type RunState, type Stoppage } from './state.ts'
import { isOpen, type Ticket } from './ticket.ts'
import type { Violation } from './violation.ts'

/** A visit of a step without what its tickets already say. */
export type ActivationJson = Omit<
  Activation,
  'step' | 'tickets' | 'used' | 'open' | 'succeededTools' | 'results' | 'missingKeywords' | 'dirty' | 'work'
> & {
  readonly step: string
  /** The items that the calls of a call step are made for, once the first is made; `unknown` in a dry run. */
  readonly items?: readonly Json[] | 'unknown'
  /** Why the step fails once nothing of it is in flight. */
  readonly failure?: string
}

/** A ticket with its step by name. */
export type TicketJson = Omit<Ticket, 'step' | 'result'> & {
  readonly step: string | null
  readonly result?: Json
}

/** What is being undone, with calls by their ids. */
export interface CompensationJson extends Pick<Compensation, 'cause' | 'reason' | 'stopped' | 'dueAt'> {
  readonly left: readonly string[]
  readonly undone: readonly string[]
}

/** A run's state as JSON: steps by id, everything derivable left out. */
export interface RunStateJson {
  readonly semantics: number
  readonly run: string
  readonly playbook: string
  readonly inputs: JsonObject
  readonly enforced: boolean
  readonly finishAttempts: number
  readonly startedAt: number
  readonly clock: number
  readonly ended: RunEnd | null
  readonly message: string | null
  readonly activations: readonly ActivationJson[]
  readonly previous: readonly ActivationJson[]
  readonly tickets: readonly TicketJson[]
  readonly toJudge: readonly string[]
  readonly timed: readonly string[]
  readonly settlements: number
  readonly totalToolCalls: number
  readonly unadmittedCalls: number
  readonly iterations: number
  readonly finishRefusals: number
  readonly errors: readonly string[]
  readonly violations: readonly Violation[]
  readonly violationsDropped: number
  /** Only of a program. */
  readonly program?: ProgramState
  /** Only where it is not to be executed. */
  readonly mode?: 'dry-run'
  readonly suspension?: Stoppage
  readonly cancellation?: Stoppage
  readonly compensation?: CompensationJson
}

/** Writes a state down; `readState` gives an equal one. */
export function writeState(state: RunState): RunStateJson {
  const id = (index: number) => state.compiled.steps[index]!.id
  return {
    semantics: state.semantics,
    run: state.run,
    playbook: state.compiled.digest,
    inputs: state.inputs,
    enforced: state.enforced,
    finishAttempts: state.finishAttempts,
    startedAt: state.startedAt,
    clock: state.clock,
    ended: state.ended,
    message: state.message,
    activations: state.activations
      .filter((each) => each !== undefined)
      .map((each) => writeActivation(each, id)),
    previous: state.previous.map((each) => writeActivation(each, id)),
    tickets: state.tickets.map(({ step, result, ...ticket }) => ({
      ...ticket,
      step: step === null ? null : id(step),
      ...(result === undefined ? {} : { result }),
    })),
    toJudge: state.toJudge.map(id),
    timed: state.timed.map((activation) => id(activation.step)),
    settlements: state.settlements,
    totalToolCalls: state.totalToolCalls,
    unadmittedCalls: state.unadmittedCalls,
    iterations: state.iterations,
    finishRefusals: state.finishRefusals,
    errors: [...state.errors],
    violations: state.violations.map((violation) => ({ ...violation })),
    violationsDropped: state.violationsDropped,
    ...(state.program === null ? {} : { program: structuredClone(state.program) }),
    ...(state.mode === 'dry-run' ? { mode: state.mode } : {}),
    ...(state.suspension === null ? {} : { suspension: state.suspension }),
    ...(state.cancellation === null ? {} : { cancellation: state.cancellation }),
    ...(state.compensation === null ? {} : { compensation: writeCompensation(state.compensation) }),
  }
}

function writeCompensation({ cause, reason, stopped, dueAt, left, undone }: Compensation): CompensationJson {
  return { cause, reason, stopped, dueAt, left: left.map(({ callId }) => callId), undone: [...undone] }
}

/**
 * Reads a state back. The playbook may be another version of the one it was written under: a step that has a history and is
 * gone throws `invalid_snapshot`; steps without one are placed anew.
 */
export function readState(compiled: CompiledPlaybook, json: RunStateJson): RunState {
  const same = json.playbook === compiled.digest
  const state = createState(compiled, { ...json, type: 'run.started', at: json.startedAt })
  const position = (id: string): number => {
    const index = compiled.positions.get(id)
    if (index === undefined) {
      throw new LockstepError(
        'invalid_snapshot',
        `The snapshot has a history for step '${id}', which the playbook lacks.`,
      )
    }
    return index
  }
  for (const each of json.previous) state.previous.push(readActivation(each, position(each.step), compiled))
  for (const each of json.activations) {
    const untouched =
      each.status === 'pending' && each.visit === 1 && each.startedAt === null && each.phase !== 'escalated'
    if (untouched && !same) continue
    const index = position(each.step)
    if (state.activations[index] !== undefined) {
      throw new LockstepError('invalid_snapshot', `The snapshot has the step '${each.step}' twice.`)
    }
    state.activations[index] = readActivation(each, index, compiled)
  }
  readTickets(state, json.tickets, position)
  for (const id of json.timed) {
    const activation = compiled.positions.has(id) ? state.activations[position(id)] : undefined
    if (activation !== undefined) state.timed.push(activation)
  }
  Object.assign(state, {
    clock: json.clock,
    ended: json.ended,
    message: json.message,
    settlements: json.settlements,
    totalToolCalls: json.totalToolCalls,
    unadmittedCalls: json.unadmittedCalls,
    iterations: json.iterations,
    finishRefusals: json.finishRefusals,
    violationsDropped: json.violationsDropped,
    suspension: json.suspension ?? null,
    cancellation: json.cancellation ?? null,
  } satisfies Partial<RunState>)
  for (const each of json.errors) state.errors.push(each)
  for (const each of json.violations) state.violations.push(each)
  for (const id of same ? json.toJudge : []) {
    const index = position(id)
    if (
      compiled.steps[index]!.when === null ||
      (state.activations[index]?.phase ?? 'waiting') !== 'waiting'
    ) {
      throw new LockstepError('invalid_snapshot', `The snapshot has nothing to judge at step '${id}'.`)
    }
    state.toJudge.push(index)
  }
  if (state.program !== null) {
    if (!same || json.program === undefined) {
      throw new LockstepError('invalid_snapshot', 'The snapshot is of another program.')
    }
    Object.assign(state.program, structuredClone(json.program))
  }
  if (json.compensation !== undefined) readCompensation(state, json.compensation)
  deriveLists(state)
  if (!same) for (const step of compiled.steps) makeReady(state, step.index)
  return state
}

function writeActivation(activation: Activation, id: (index: number) => string): ActivationJson {
  const {
    step,
    visit,
    status,
    phase,
    startedAt,
    completedAt,
    activeMs,
    activeSince,
    by,
    result,
    error,
    outOfOrder,
    reopened,
  } = activation
  return {
    step: id(step),
    visit,
    status,
    phase,
    startedAt,
    completedAt,
    activeMs,
    activeSince,
    by,
    result,
    error,
    outOfOrder,
    reopened,
    ...writeWork(activation),
  }
}

function writeWork({ work }: Activation): Pick<ActivationJson, 'items' | 'failure'> {
  if (work === null) return {}
  const items = work.unknownItems ? 'unknown' : work.items
  return {
    ...(items === null ? {} : { items }),
    ...(work.failure === null ? {} : { failure: work.failure }),
  }
}

function readActivation(json: ActivationJson, index: number, compiled: CompiledPlaybook): Activation {
  const { items, failure = null, ...others } = json
  const step = compiled.steps[index]!
  const activation = Object.assign(createActivation(index, json.visit, step.keywords), {
    ...others,
    step: index,
  })
  if (step.call === null) return activation
  activation.work = createCallWork()
  activation.work.failure = failure
  if (items === 'unknown') activation.work.unknownItems = true
  else activation.work.items = items ?? null
  return activation
}

function readCompensation(state: RunState, json: CompensationJson): void {
  const begun = {
    type: 'compensation.begun',
    at: json.dueAt,
    cause: json.cause,
    reason: json.reason,
  } as const
  const compensation = beginCompensation(state, begun)
  const find = (callId: string): Ticket => {
    const ticket = state.byCallId.get(callId)
    if (ticket?.undo !== undefined) return ticket
    throw new LockstepError('invalid_snapshot', `The snapshot has nothing that undoes the call '${callId}'.`)
  }
  compensation.left.splice(0, Infinity, ...json.left.map(find))
  compensation.undone.push(...json.undone)
  state.compensation = compensation
  const next = compensation.left.at(-1)?.callId
  for (const ticket of state.tickets) {
    if (next === undefined || ticket.undoes !== next) continue
    noteUndoing(compensation, ticket)
    noteUndone(state, compensation, ticket)
  }
  compensation.stopped = json.stopped
  compensation.dueAt = json.dueAt
}

function readTickets(
  state: RunState,
  tickets: readonly TicketJson[],
  position: (id: string) => number,
): void {
  const visits = new Map(
    [...state.previous, ...state.activations].flatMap((each) =>
      each === undefined ? [] : [[visitKey(each.step, each.visit), each] as const],
    ),
  )
  const visitOf = (ticket: Ticket) => findVisit(visits, ticket)
  for (const json of tickets) {
    const ticket: Ticket = {
      result: undefined,
      ...json,
      step: json.step === null ? null : position(json.step),
    }
    if (state.byCallId.has(ticket.callId)) {
      throw new LockstepError('invalid_snapshot', `The snapshot has the call '${ticket.callId}' twice.`)
    }
    state.tickets.push(ticket)
    state.byCallId.set(ticket.callId, ticket)
    if (ticket.state !== 'held') state.past.admit(ticket)
    if (isOpen(ticket)) state.openTickets.add(ticket)
    if (ticket.state === 'held') state.held.add(ticket)
    else if (ticket.state !== 'not_executed') state.made++
    if (ticket.state === 'unknown') state.unknown.add(ticket)
    if (ticket.extra && ticket.state !== 'not_executed') state.extraCalls++
    const activation = visitOf(ticket)
    if (activation === null) continue
    activation.tickets.push(ticket)
    if (ticket.state !== 'not_executed') activation.used++
    if (isOpen(ticket)) activation.open++
    admitCall(state, activation, ticket)
    settleCall(state, activation, ticket, 'made')
  }
  const settled = state.tickets.filter((ticket) => !isOpen(ticket))
  for (const ticket of settled.sort((a, b) => a.settlement! - b.settlement!)) {
    state.past.settle(ticket)
    const activation = visitOf(ticket)
    const checks = activation?.work != null && readCallId(state.compiled, ticket.callId)?.purpose === 'verify'
    if (ticket.state === 'succeeded' && activation !== null && !checks) {
      credit(state.compiled.steps[activation.step]!, activation, ticket)
    }
  }
}

function visitKey(step: number, visit: number | null): string {
  return `${step}#${visit}`
}

function findVisit(visits: ReadonlyMap<string, Activation>, ticket: Ticket): Activation | null {
  if (ticket.step === null || ticket.undoes !== undefined) return null
  const found = visits.get(visitKey(ticket.step, ticket.visit))
  if (found === undefined) {
    throw new LockstepError(
      'invalid_snapshot',
      `The snapshot's call '${ticket.callId}' belongs to no visit of its step.`,
    )
  }
  return found
}

function deriveLists(state: RunState): void {
  for (const step of state.compiled.steps) {
    const activation = state.activations[step.index]
    if (activation === undefined) continue
    const { status, phase } = activation
    if (phase === 'open' || phase === 'undecided' || phase === 'escalated') state.open.push(step.index)
    if (phase === 'undecided' || phase === 'escalated') state.paused++
    updateCallable(state, activation)
    if (phase === 'lingering') state.lingering.push(step.index)
    if (activation.reopened) state.reopened.push(step.index)
    if (status === 'failed' && step.required) state.failedRequired++
    else if (status === 'completed' || status === 'skipped' || status === 'failed') state.remaining--
    // Looking once more than needed costs nothing; looking once less would leave a step standing.
    if (phase === 'open' || phase === 'waiting') {
      activation.dirty = true
      state.toWeigh.push(step.index)
    }
  }
}
