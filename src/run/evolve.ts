/**
 * Applies one event to a state.
 *
 * Owns: every change of a run's state.
 * Talks to: nothing. Never decides: what an event means for the state follows from both alone, so replaying a journal
 * gives the state that was.
 *
 * Invariants
 * E1  A step without `when` opens by itself once its predecessors are met; a step with one only by its event.
 * E2  A slot of a cap is taken at admission and given back only by `not_executed`.
 * E3  Complete steps that linger close when a step after them moves.
 * E4  A complete step with a call in flight is not complete: it returns to `in_progress` until that call is settled.
 */
import type { CompiledPlaybook } from '../playbook/compile-playbook.ts'
import { LockstepError, invariant } from '../shared/lockstep-error.ts'
import { createActivation, type Activation } from './activation.ts'
import { credit } from './credit.ts'
import type { EventOf, RunEvent } from './event.ts'
import { evolveProgram } from './program/evolve-program.ts'
import { arePredecessorsMet, insertSorted, removeFrom } from './order.ts'
import { activateCurrent, startClock, startClocks, stopClock, stopClocks } from './step-clock.ts'
import { activationOf, createState, semantics, type RunState } from './state.ts'
import { isOpen, type Ticket } from './ticket.ts'
import { violationsKept, type Violation } from './violation.ts'

/** The state after the first event of a run. Throws `playbook_mismatch` if it was started with another playbook. */
export function begin(compiled: CompiledPlaybook, event: RunEvent): RunState {
  invariant(event.type === 'run.started', 'a run begins with run.started')
  if (event.semantics !== semantics) {
    throw new LockstepError(
      'playbook_mismatch',
      `The run was started under rules ${event.semantics}, unknown here.`,
    )
  }
  if (event.playbook !== compiled.digest) {
    throw new LockstepError('playbook_mismatch', 'The run was started with another version of the playbook.')
  }
  const state = createState(compiled, event)
  if (state.program !== null) return state
  for (const step of compiled.steps) if (step.predecessors === null) makeReady(state, step.index)
  activateCurrent(state, event.at)
  return state
}

/** The state after one more event. It takes the given state over: use only the one it returns. */
export function evolve(state: RunState, event: RunEvent): RunState {
  if (event.at > state.clock) state.clock = event.at
  state.version++
  switch (event.type) {
    case 'run.started':
      throw new LockstepError('internal', 'a run starts once')
    case 'tool.admitted':
    case 'tool.held':
      admit(state, event)
      break
    case 'approval.voted': {
      const { approval } = state.byCallId.get(event.callId)!
      approval!.votes.push(event.vote)
      approval!.state = event.comesTo
      break
    }
    case 'approval.expired':
      state.byCallId.get(event.callId)!.approval!.state = 'expired'
      break
    case 'tool.denied':
      keepViolation(state, {
        code: event.code,
        step: event.step,
        tool: event.tool,
        message: event.message,
        at: event.at,
        blocked: event.blocked,
      })
      break
    case 'tool.settled':
      settle(state, event)
      break
    case 'tool.unadmitted':
      state.totalToolCalls++
      state.unadmittedCalls++
      keepViolation(state, {
        code: 'unadmitted_call',
        step: null,
        tool: event.tool,
        message: `'${event.tool}' was recorded, but the gate had not let it through.`,
        at: event.at,
        blocked: false,
      })
      break
    case 'step.opened':
      removeFrom(state.toJudge, positionOf(state, event.step))
      open(state, positionOf(state, event.step))
      break
    case 'step.undecided': {
      const activation = activationOf(state, positionOf(state, event.step))
      removeFrom(state.toJudge, activation.step)
      activation.phase = 'undecided'
      activation.error = event.error
      insertSorted(state.open, activation.step)
      pause(state, event.at)
      break
    }
    case 'step.completed':
      complete(state, event)
      break
    case 'step.skipped':
      skip(state, event)
      break
    case 'step.failed':
      fail(state, event)
      break
    case 'step.escalated': {
      const activation = activationOf(state, positionOf(state, event.step))
      activation.phase = 'escalated'
      insertSorted(state.open, activation.step)
      pause(state, event.at)
      break
    }
    case 'step.retried':
      retry(state, event)
      break
    case 'step.refused':
      break
    case 'step.entered':
      enter(state, positionOf(state, event.step), event.at)
      break
    case 'iteration.started':
      state.iterations = event.number
      break
    case 'finish.refused':
      state.finishRefusals = event.attempt
      break
    case 'run.finished':
      state.ended = event.status
      state.message = event.message
      stopClocks(state, event.at)
      break
  }
  evolveProgram(state, event)
  if (mattersToConditions(event)) lookAtWatchers(state)
  activateCurrent(state, event.at)
  return state
}

/** Whether a condition about steps or calls may have another value after the event. */
function mattersToConditions({ type }: RunEvent): boolean {
  switch (type) {
    case 'tool.admitted':
    case 'tool.held':
    case 'tool.settled':
    case 'step.opened':
    case 'step.undecided':
    case 'step.completed':
    case 'step.skipped':
    case 'step.failed':
    case 'step.escalated':
    case 'step.retried':
      return true
    default:
      return false
  }
}

function admit(state: RunState, event: EventOf<'tool.admitted' | 'tool.held'>): void {
  const before = state.byCallId.get(event.callId)
  if (before !== undefined) {
    // It was held: its place is its own, and only now it may have an effect.
    before.state = 'admitted'
    before.admittedAt = event.at
    state.past.admit(before)
    if (before.step !== null) startClock(state, visitOf(state, before.step, before.visit), event.at)
    return
  }
  const index = event.step === null ? null : positionOf(state, event.step)
  const activation = index === null ? null : activationOf(state, index)
  const ticket: Ticket = {
    callId: event.callId,
    tool: event.tool,
    args: event.args,
    target: event.target ?? null,
    step: index,
    visit: activation?.visit ?? 1,
    extra: event.extra,
    observed: event.observed,
    admittedAt: event.at,
    approval:
      event.type === 'tool.held'
        ? {
            askedAt: event.at,
            expiresAt: event.expiresAt,
            demands: event.demands,
            votes: [],
            state: 'waiting',
          }
        : null,
    state: event.type === 'tool.held' ? 'held' : 'admitted',
    settledAt: null,
    settlement: null,
    result: undefined,
    error: null,
  }
  state.tickets.push(ticket)
  state.byCallId.set(ticket.callId, ticket)
  state.openTickets.add(ticket)
  if (ticket.state !== 'held') state.past.admit(ticket)
  if (ticket.extra) state.extraCalls++
  if (activation === null) return
  activation.tickets.push(ticket)
  activation.used++
  activation.open++
  activation.startedAt ??= event.at
  if (activation.phase === 'lingering') reopen(state, activation, event.at)
  else if (activation.status === 'pending') activation.status = 'in_progress'
  // Where the playbook only observes, a step that is done can be called too: its time is over and done with.
  if (activation.status === 'in_progress') startClock(state, activation, event.at)
  // Nobody works while people are waited for (G8).
  if (activation.tickets.filter(isOpen).every(({ state: stands }) => stands === 'held'))
    stopClock(activation, event.at)
  closeBefore(state, activation.step)
}

function settle(state: RunState, event: EventOf<'tool.settled'>): void {
  const ticket = state.byCallId.get(event.callId)
  invariant(ticket !== undefined, `no call ${event.callId}`)
  const before = ticket.state
  ticket.state = event.outcome
  ticket.settledAt = event.at
  ticket.settlement = ++state.settlements
  ticket.result = event.result
  ticket.error = event.error ?? null
  if (before !== 'held') state.past.settle(ticket)
  if (before !== 'unknown' && event.outcome !== 'not_executed') state.totalToolCalls++
  if (before === 'unknown' && event.outcome === 'not_executed') state.totalToolCalls--
  if (event.outcome !== 'unknown') state.openTickets.delete(ticket)
  if (event.outcome === 'not_executed' && ticket.extra) state.extraCalls--
  if (ticket.step === null) return
  const activation = visitOf(state, ticket.step, ticket.visit)
  if (event.outcome === 'not_executed') activation.used--
  if (event.outcome !== 'unknown') activation.open--
  if (event.outcome === 'succeeded') credit(state.compiled.steps[activation.step]!, activation, ticket)
  look(state, activation)
}

function complete(state: RunState, event: EventOf<'step.completed'>): void {
  const activation = activationOf(state, positionOf(state, event.step))
  const step = state.compiled.steps[activation.step]!
  const lingers =
    event.by === 'evidence' &&
    step.cap !== null &&
    activation.used < step.cap &&
    step.completion.kind !== 'declared'
  leave(state, activation, event.at)
  activation.status = 'completed'
  activation.phase = lingers ? 'lingering' : 'closed'
  activation.startedAt ??= event.at
  activation.completedAt = event.at
  activation.by = event.by
  activation.result = event.result ?? activation.result
  activation.outOfOrder = event.outOfOrder
  if (lingers) insertSorted(state.lingering, activation.step)
  closeBefore(state, activation.step)
  state.remaining--
  openAfter(state, activation.step)
}

function skip(state: RunState, event: EventOf<'step.skipped'>): void {
  const activation = activationOf(state, positionOf(state, event.step))
  leave(state, activation, event.at)
  activation.status = 'skipped'
  activation.phase = 'closed'
  activation.completedAt = event.at
  activation.by = event.by
  activation.result = event.reason
  state.remaining--
  // A step that does not apply is no progress: what lingers before it goes on lingering.
  if (event.by !== 'condition') closeBefore(state, activation.step)
  openAfter(state, activation.step)
}

function fail(state: RunState, event: EventOf<'step.failed'>): void {
  const activation = activationOf(state, positionOf(state, event.step))
  leave(state, activation, event.at)
  activation.status = 'failed'
  activation.phase = 'closed'
  activation.startedAt ??= event.at
  activation.completedAt = event.at
  activation.by = event.by
  activation.error = event.error
  state.errors.push(`Step ${event.step}: ${event.error}`)
  closeBefore(state, activation.step)
  if (state.compiled.steps[activation.step]!.required) {
    if (state.failedRequired++ === 0) stopClocks(state, event.at)
    return
  }
  state.remaining--
  openAfter(state, activation.step)
}

function retry(state: RunState, event: EventOf<'step.retried'>): void {
  const index = positionOf(state, event.step)
  const step = state.compiled.steps[index]!
  const activation = activationOf(state, index)
  const failed = activation.status === 'failed'
  const undecided = activation.phase === 'undecided'
  leave(state, activation, event.at)
  activation.phase = 'closed'
  state.previous.push(activation)
  state.activations[index] = createActivation(index, activation.visit + 1, step.keywords)
  if (failed && step.required) state.failedRequired--
  if (failed && !step.required) state.remaining++
  if (undecided) insertSorted(state.toJudge, index)
  else open(state, index)
  startClocks(state, event.at)
}

/** Begins a visit of a bullet of a program; the visit before it, if there was one, is kept. */
function enter(state: RunState, index: number, at: number): void {
  const before = state.activations[index]
  if (before !== undefined) {
    if (before.completedAt !== null) state.remaining++
    state.previous.push(before)
  }
  const step = state.compiled.steps[index]!
  const { visited } = state.program!
  const visit = (visited[step.id] ?? 0) + 1
  visited[step.id] = visit
  const activation = createActivation(index, visit, step.keywords)
  activation.status = 'in_progress'
  activation.startedAt = at
  state.activations[index] = activation
  open(state, index)
}

/** The visit that a call was made in: the current one, but where a program visits the step again inside it. */
function visitOf(state: RunState, index: number, visit: number): Activation {
  const current = state.activations[index]!
  if (current.visit === visit) return current
  return state.previous.findLast((each) => each.step === index && each.visit === visit) ?? current
}

/** Takes a step out of whatever list it stands in, because it is done, failed or begun anew. */
function leave(state: RunState, activation: Activation, at: number): void {
  if (activation.phase === 'undecided' || activation.phase === 'escalated') {
    state.paused--
    startClocks(state, at)
  }
  removeFrom(state.toJudge, activation.step)
  removeFrom(state.open, activation.step)
  removeFrom(state.lingering, activation.step)
  if (activation.reopened) removeFrom(state.reopened, activation.step)
  activation.reopened = false
  removeFrom(state.timed, activation)
  stopClock(activation, at)
}

function open(state: RunState, index: number): void {
  const activation = activationOf(state, index)
  activation.phase = 'open'
  insertSorted(state.open, index)
  // Credit given out of order, or a condition about the past, may already satisfy it; a cap of none is used up at once.
  const { watches, cap } = state.compiled.steps[index]!
  if (activation.tickets.length > 0 || watches || cap === 0) look(state, activation)
}

function reopen(state: RunState, activation: Activation, at: number): void {
  removeFrom(state.lingering, activation.step)
  insertSorted(state.reopened, activation.step)
  activation.reopened = true
  // What comes after it cannot move now, so its time does not count.
  for (const later of state.timed)
    if (state.compiled.precedes(activation.step, later.step)) stopClock(later, at)
  activation.status = 'in_progress'
  activation.phase = 'open'
  activation.completedAt = null
  insertSorted(state.open, activation.step)
  state.remaining++
}

function openAfter(state: RunState, index: number): void {
  for (const later of state.compiled.steps[index]!.successors) makeReady(state, later)
}

/** Opens a step, or puts it up for judgement, if its predecessors are met and it has not been opened yet. */
export function makeReady(state: RunState, index: number): void {
  const step = state.compiled.steps[index]!
  const activation = state.activations[index]
  if (activation !== undefined && (activation.phase !== 'waiting' || activation.status === 'skipped')) return
  if (!arePredecessorsMet(state, step.predecessors)) return
  if (step.when === null) open(state, index)
  else insertSorted(state.toJudge, index)
}

function closeBefore(state: RunState, index: number): void {
  for (let at = state.lingering.length - 1; at >= 0; at--) {
    const lingering = state.lingering[at]!
    if (lingering === index || !state.compiled.precedes(lingering, index)) continue
    state.activations[lingering]!.phase = 'closed'
    state.lingering.splice(at, 1)
  }
}

function look(state: RunState, activation: Activation): void {
  if (activation.dirty) return
  activation.dirty = true
  insertSorted(state.toWeigh, activation.step)
}

/** Conditions may speak of any call and any step, so every move is a reason to look at the open steps that have them. */
function lookAtWatchers(state: RunState): void {
  for (const index of state.compiled.watchers) {
    const activation = state.activations[index]
    if (activation === undefined) continue
    const early = activation.phase === 'waiting' && activation.status === 'in_progress'
    if (activation.phase === 'open' || early) look(state, activation)
  }
}

function pause(state: RunState, at: number): void {
  if (state.paused++ === 0) stopClocks(state, at)
}

function keepViolation(state: RunState, violation: Violation): void {
  if (state.violations.length < violationsKept) state.violations.push(violation)
  else state.violationsDropped++
}

function positionOf(state: RunState, id: string): number {
  const index = state.compiled.positions.get(id)
  invariant(index !== undefined, `no step ${id}`)
  return index
}
