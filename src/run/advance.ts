import { ExpressionError } from '../expression/expression-error.ts'
import type { CompiledStep } from '../playbook/compile-playbook.ts'
import type { Activation } from './activation.ts'
import type { Limit, RunEvent } from './event.ts'
import { arePredecessorsMet } from './order.ts'
import { hasEvidence, isValid, missingValidation, needsDeclaration } from './satisfaction.ts'
import type { RunState } from './state.ts'

const nothing: readonly RunEvent[] = []

/**
 * What follows from a state by itself: conditions to judge, steps that are satisfied, limits that are reached. Returns the
 * first consequence only, because the next may depend on it; empty when nothing is left to do.
 */
export function advance(state: RunState, now: number): readonly RunEvent[] {
  if (state.ended !== null) return nothing
  const at = Math.max(now, state.clock)
  for (const index of state.toJudge) {
    const event = judgeWhen(state, index, at)
    if (event !== null) return [event]
  }
  for (const index of state.toWeigh) {
    const event = weigh(state, index, at)
    if (event !== null) return [event]
  }
  for (const activation of state.timed) {
    if (!isOverdue(state, activation, at)) continue
    return [reachLimit(state, state.compiled.steps[activation.step]!, activation, 'timeout_seconds', at)]
  }
  return nothing
}

/** Says whether a step has used up its active time. */
export function isOverdue(state: RunState, activation: Activation, at: number): boolean {
  const { timeout } = state.compiled.steps[activation.step]!
  if (timeout === null || activation.activeSince === null) return false
  return activation.activeMs + (at - activation.activeSince) >= timeout
}

function judgeWhen(state: RunState, index: number, at: number): RunEvent | null {
  const step = state.compiled.steps[index]!
  // A complete step that took up another call can hold its successors back again until that call is settled.
  if (!arePredecessorsMet(state, step.predecessors)) return null
  const value = step.when!.evaluate([state.inputs, state.stepsView], state.past)
  if (value instanceof ExpressionError) {
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

function weigh(state: RunState, index: number, at: number): RunEvent | null {
  const step = state.compiled.steps[index]!
  const activation = state.activations[index]
  if (activation === undefined || activation.open > 0 || !canComplete(state, activation)) return null
  const spent = step.cap !== null && activation.used >= step.cap
  if (hasEvidence(state, step, activation) && isValid(state, step, activation)) {
    const outOfOrder = activation.phase === 'waiting'
    if (!needsDeclaration(step)) {
      return { type: 'step.completed', at, step: step.id, by: 'evidence', result: null, outOfOrder }
    }
    if (!spent || step.source.onLimit !== 'advance') return null
    return { type: 'step.completed', at, step: step.id, by: 'limit', result: null, outOfOrder }
  }
  return spent ? reachLimit(state, step, activation, 'max_tool_calls', at) : null
}

/** Where the playbook only observes, a step is credited before its turn (G13). */
function canComplete(state: RunState, activation: Activation): boolean {
  if (activation.status !== 'pending' && activation.status !== 'in_progress') return false
  return activation.phase === 'open' || (activation.phase === 'waiting' && !state.enforced)
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
    return { type: 'step.completed', at, step: step.id, by: 'limit', result: null, outOfOrder: false }
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
