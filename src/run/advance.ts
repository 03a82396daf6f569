import { ExpressionError } from '../expression/expression-error.ts'
import type { CompiledStep } from '../playbook/compile-playbook.ts'
import type { Activation } from './activation.ts'
import type { Limit, RunEvent } from './event.ts'
import { overdueApproval } from './decide-approval.ts'
import { isAvailable, isHeldBack } from './order.ts'
import { advanceProgram } from './program/advance-program.ts'
import { weighCalls } from './weigh-calls.ts'
import { advanceEnd } from './advance-end.ts'
import { hasEvidence, isValid, missingValidation, needsDeclaration } from './satisfaction.ts'
import { isOnlyShown } from './resolve-call.ts'
import type { RunState } from './state.ts'
import { isOverdue } from './step-clock.ts'

const nothing: readonly RunEvent[] = []

/**
 * What follows from a state by itself: conditions to judge, steps that are satisfied, limits that are reached. Returns the
 * first consequence only, because the next may depend on it; empty when nothing is left to do.
 */
export function advance(state: RunState, now: number): readonly RunEvent[] {
  if (state.ended !== null) return nothing
  const at = Math.max(now, state.clock)
  // What is being undone is not gone on with.
  if (state.compensation !== null || state.cancellation !== null) {
    const late = overdueApproval(state, now)
    return late.length > 0 ? late : advanceEnd(state, at)
  }
  for (const index of state.toJudge) {
    const event = judgeWhen(state, index, at)
    if (event !== null) return [event]
  }
  for (const index of state.toWeigh) {
    const event = weighEvidence(state, index, at)
    if (event !== null) return [event]
  }
  // Limits come after all evidence: what one call did for several steps counts before any of them is given up.
  for (const index of state.toWeigh) {
    const event = weighCap(state, index, at)
    if (event !== null) return [event]
  }
  const late = overdueApproval(state, now)
  if (late.length > 0) return late
  // Of several, the first in the list: which one fails can stop the clocks of the others.
  let overdue: Activation | null = null
  for (const activation of state.timed) {
    if (overdue !== null && overdue.step < activation.step) continue
    if (isOverdue(state, activation, at)) overdue = activation
  }
  if (overdue === null) return state.program === null ? advanceEnd(state, at) : advanceProgram(state, now)
  return [reachLimit(state, state.compiled.steps[overdue.step]!, overdue, 'timeout_seconds', at)]
}

function judgeWhen(state: RunState, index: number, at: number): RunEvent | null {
  const step = state.compiled.steps[index]!
  // A complete step that took up another call can hold its successors back again until that call is settled.
  if (!isAvailable(state, step)) return null
  const value = step.when!.evaluate([state.inputs, state.stepsView], state.past)
  if (value instanceof ExpressionError) {
    if (isRehearsed(state, step)) return { type: 'step.opened', at, step: step.id }
    return { type: 'step.undecided', at, step: step.id, error: `when: ${value.message}` }
  }
  return value === true
    ? { type: 'step.opened', at, step: step.id }
    : {
        type: 'step.skipped',
        at,
        step: step.id,
        by: 'condition',
        reason: `when does not hold: ${step.when!.source}`,
      }
}

/** In a dry run, a condition on what only a made call could tell counts as true, so that what would follow is shown. */
function isRehearsed(state: RunState, step: CompiledStep): boolean {
  if (state.mode !== 'dry-run') return false
  return step.when!.references.some(
    ({ name, path: [id, member] }) =>
      name === 'steps' && member === 'output' && id !== undefined && isOnlyShown(state, id),
  )
}

/** The step is satisfied: it completes, unless it waits for a declaration. */
function weighEvidence(state: RunState, index: number, at: number): RunEvent | null {
  const step = state.compiled.steps[index]!
  const activation = state.activations[index]
  if (activation !== undefined && step.call !== null) return weighCalls(state, step, activation, at)
  if (activation === undefined || !canBeWeighed(state, activation) || needsDeclaration(step)) return null
  if (!hasEvidence(state, step, activation) || !isValid(state, step, activation)) return null
  const outOfOrder = activation.phase === 'waiting'
  return { type: 'step.completed', at, by: 'evidence', outOfOrder, result: null, step: step.id }
}

/** The cap is used up and the step is not complete. Where only a declaration is missing, `advance` alone acts on that. */
function weighCap(state: RunState, index: number, at: number): RunEvent | null {
  const step = state.compiled.steps[index]!
  const activation = state.activations[index]
  if (activation === undefined || step.cap === null || activation.used < step.cap) return null
  if (!canBeWeighed(state, activation)) return null
  const onlyUndeclared =
    needsDeclaration(step) && hasEvidence(state, step, activation) && isValid(state, step, activation)
  if (onlyUndeclared && step.source.onLimit !== 'advance') return null
  return reachLimit(state, step, activation, 'max_tool_calls', at)
}

/** No call of it is open, and its turn has come; one that was called before, where the playbook only observes, is credited (G13). */
function canBeWeighed(state: RunState, { step, status, phase, open }: Activation): boolean {
  if (open > 0 || (isHeldBack(state, step) && state.enforced)) return false
  return phase === 'open' || (phase === 'waiting' && status === 'in_progress')
}

/** A limit is never a success (G8): what happens is what `on_limit` says. */
export function reachLimit(
  state: RunState,
  step: CompiledStep,
  activation: Activation,
  limit: Limit,
  at: number,
): RunEvent {
  const { onLimit } = step.source
  if (onLimit === 'escalate') return { type: 'step.escalated', at, step: step.id, limit }
  const lacking = activation.open > 0 ? ['a call is still open'] : missingValidation(state, step, activation)
  // The iterations belong to the run, so no step can be advanced past their end.
  if (onLimit === 'advance' && lacking.length === 0 && limit !== 'max_iterations') {
    const outOfOrder = activation.phase === 'waiting'
    return { type: 'step.completed', at, step: step.id, by: 'limit', result: null, outOfOrder }
  }
  return {
    type: 'step.failed',
    at,
    step: step.id,
    by: 'limit',
    error: limitMessage(step, limit, state),
    limit,
  }
}

function limitMessage(step: CompiledStep, limit: Limit, state: RunState): string {
  switch (limit) {
    case 'max_tool_calls':
      return `used its ${step.cap} calls without completing`
    case 'timeout_seconds':
      return `took longer than ${step.source.timeoutSeconds} s`
    case 'max_iterations':
      return `the run took more than ${state.compiled.playbook.maxIterations} iterations`
  }
}
