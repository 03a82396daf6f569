import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { createActivation } from './activation.ts'
import { reachLimit } from './advance.ts'
import type { RunEvent } from './event.ts'
import { reachByPassing } from './find-owner.ts'
import type { Facts, RunRequest } from './request.ts'
import { missingValidation, needsDeclaration } from './satisfaction.ts'
import { currentStep, type RunState } from './state.ts'

type FinishRequest = Extract<RunRequest, { type: 'finish' }>

/**
 * Judges a final answer (G9). It is accepted when no required step is open and every call is accounted for; it completes a
 * last step that asks only for a declaration. Otherwise it is sent back, and after so many tries the run ends incomplete.
 */
export function decideFinish(state: RunState, request: FinishRequest, facts: Facts): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  if (state.ended !== null) return []
  if (state.program !== null) {
    // A program ends when it has come to its end, whatever anybody says.
    const remaining = currentStep(state) === null ? [] : [state.compiled.steps[currentStep(state)!]!.id]
    const unsettled = [...state.openTickets].map((ticket) => ticket.callId)
    return [{ type: 'finish.refused', at, attempt: state.finishRefusals, remaining, unsettled }]
  }
  // It is ended by what it was stopped for, once what is in flight is settled and what is to be undone is.
  if (state.cancellation !== null || state.compensation !== null) return refuseEarly(state, [], at)
  if (state.failedRequired > 0)
    return [{ type: 'run.finished', at, status: 'failed', message: request.message }]

  const left = state.compiled.steps.filter((step) => !isDone(state, step))
  const required = left.filter(
    (step) => step.required || waitsForPerson(state, step) || isUnderWay(state, step),
  )
  const answered = required.length === 1 && isAnswered(state, required[0]!) ? required[0]! : null
  const unsettled = [...state.openTickets].map((ticket) => ticket.callId)
  if (unsettled.length === 0 && (required.length === 0 || answered !== null)) {
    return [
      ...left.map((step): RunEvent => {
        if (step !== answered) {
          return { type: 'step.skipped', at, step: step.id, by: 'finish', reason: 'the run was finished' }
        }
        return {
          type: 'step.completed',
          at,
          step: step.id,
          by: 'model',
          result: request.message,
          outOfOrder: false,
        }
      }),
      { type: 'run.finished', at, status: 'succeeded', message: request.message },
    ]
  }
  const attempt = state.finishRefusals + 1
  const remaining = required.map((step) => step.id)
  const refused: RunEvent = { type: 'finish.refused', at, attempt, remaining, unsettled }
  if (attempt <= state.finishAttempts) return [refused]
  return [refused, { type: 'run.finished', at, status: 'incomplete', message: request.message }]
}

function refuseEarly(state: RunState, remaining: readonly string[], at: number): readonly RunEvent[] {
  const unsettled = [...state.openTickets].map((ticket) => ticket.callId)
  return [{ type: 'finish.refused', at, attempt: state.finishRefusals, remaining, unsettled }]
}

function isDone(state: RunState, step: CompiledStep): boolean {
  const status = state.activations[step.index]?.status
  return status === 'completed' || status === 'skipped' || status === 'failed'
}

/** A step that asked for a person is not passed by a model's final answer, however optional it is. */
function waitsForPerson(state: RunState, step: CompiledStep): boolean {
  const phase = state.activations[step.index]?.phase
  return phase === 'escalated' || phase === 'undecided'
}

/** A call that the runtime makes is made, whatever a model says. */
function isUnderWay(state: RunState, step: CompiledStep): boolean {
  return step.call !== null && state.activations[step.index]?.phase === 'open'
}

/** Says whether a final answer is all that the step asks for. */
function isAnswered(state: RunState, step: CompiledStep): boolean {
  if (step.tools.size > 0 || !needsDeclaration(step)) return false
  const activation = state.activations[step.index] ?? createActivation(step.index, 1, step.keywords)
  if (activation.phase !== 'open' && reachByPassing(state, step) === null) return false
  return missingValidation(state, step, activation).length === 0
}

/** Ends the run short of success, because the host says so. A run that has ended stays as it ended. */
export function decideEnd(
  state: RunState,
  request: Extract<RunRequest, { type: 'end' }>,
  facts: Facts,
): readonly RunEvent[] {
  if (state.ended !== null) return []
  const at = Math.max(facts.now, state.clock)
  return [{ type: 'run.finished', at, status: request.status, message: request.message }]
}

/** Counts one turn of the model against `max_iterations`; the one too many does what the current step's `on_limit` says. */
export function decideIteration(state: RunState, facts: Facts): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  if (state.ended !== null || state.failedRequired > 0 || state.paused > 0) return []
  if (state.suspension !== null || state.cancellation !== null) return []
  const { maxIterations } = state.compiled.playbook
  const started: RunEvent = { type: 'iteration.started', at, number: state.iterations + 1 }
  const current = currentStep(state)
  if (maxIterations === null || state.iterations < maxIterations || current === null) return [started]
  const step = state.compiled.steps[current]!
  return [reachLimit(state, step, state.activations[current]!, 'max_iterations', at)]
}
