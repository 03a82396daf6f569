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
import type { EventOf, RunEvent } from './event.ts'
import { evolveProgram } from './program/evolve-program.ts'
import { beginCompensation } from './compensation.ts'
import { beginCalls } from './evolve-calls.ts'
import { admit, refuse, settle } from './evolve-ticket.ts'
import { arePredecessorsMet, insertSorted, removeFrom } from './order.ts'
import { activateCurrent, startClocks, stopClock, stopClocks } from './step-clock.ts'
import { activationOf, createState, semantics, type RunState } from './state.ts'
import { closeBefore, look, lookAtWatchers, positionOf } from './step-lists.ts'
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
      if (event.final === true) refuse(state, event)
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
    case 'run.paused':
      state.suspension = { by: event.by, reason: event.reason }
      stopClocks(state, event.at)
      break
    case 'run.unpaused':
      state.suspension = null
      startClocks(state, event.at)
      break
    case 'cancel.requested':
      state.cancellation = { by: event.by, reason: event.reason }
      stopClocks(state, event.at)
      break
    case 'compensation.begun':
      state.compensation = beginCompensation(state, event)
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

function complete(state: RunState, event: EventOf<'step.completed'>): void {
  const activation = activationOf(state, positionOf(state, event.step))
  const step = state.compiled.steps[activation.step]!
  const lingers =
    event.by === 'evidence' &&
    step.cap !== null &&
    step.call === null &&
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

/** Takes a step out of whatever list it stands in, because it is done, failed or begun anew. */
function leave(state: RunState, activation: Activation, at: number): void {
  if (activation.phase === 'undecided' || activation.phase === 'escalated') {
    state.paused--
    startClocks(state, at)
  }
  removeFrom(state.toJudge, activation.step)
  removeFrom(state.open, activation.step)
  removeFrom(state.lingering, activation.step)
  if (activation.work !== null) removeFrom(state.callable, activation.step)
  if (activation.reopened) {
    removeFrom(state.reopened, activation.step)
    // It held back what comes after it, which may go on now.
    for (const index of state.callable) look(state, state.activations[index]!)
  }
  activation.reopened = false
  removeFrom(state.timed, activation)
  stopClock(activation, at)
}

function open(state: RunState, index: number): void {
  const activation = activationOf(state, index)
  activation.phase = 'open'
  insertSorted(state.open, index)
  // Credit given out of order, or a condition about the past, may already satisfy it; a cap of none is used up at once.
  const { watches, cap, call } = state.compiled.steps[index]!
  if (call !== null) {
    beginCalls(state, activation)
    look(state, activation)
  }
  if (activation.tickets.length > 0 || watches || cap === 0) look(state, activation)
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

function pause(state: RunState, at: number): void {
  if (state.paused++ === 0) stopClocks(state, at)
}

function keepViolation(state: RunState, violation: Violation): void {
  if (state.violations.length < violationsKept) state.violations.push(violation)
  else state.violationsDropped++
}
