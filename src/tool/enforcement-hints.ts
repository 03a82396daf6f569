import type { EventOf } from '../run/event.ts'
import { expected, isDisclosed } from '../run/describe-denial.ts'
import { missingEvidence, missingValidation, needsDeclaration } from '../run/satisfaction.ts'
import { currentStep, isComplete, type RunState } from '../run/state.ts'

/** What helps an agent on after a refusal: what is expected now, what is missing, and the step's own hints. */
export function hintsAfterDenial(state: RunState, denied: EventOf<'tool.denied'>): string[] {
  if (isComplete(state)) return ['Every step is done: give the final answer.']
  const current = currentStep(state)
  if (current === null) return []
  const step = state.compiled.steps[current]!
  const activation = state.activations[current]
  const hints = [`Current step '${step.id}' expects: ${expected(step)}.`]
  if (denied.code === 'max_tool_calls' && activation !== undefined && activation.phase === 'open') {
    const missing = [
      ...missingEvidence(state, step, activation),
      ...missingValidation(state, step, activation),
    ]
    // A condition may speak of steps that are not to be named yet.
    const hidden = state.compiled.steps.filter((each) => !isDisclosed(state, each))
    const told = missing.filter((reason) => !hidden.some(({ id }) => reason.includes(id)))
    if (told.length > 0) hints.push(`Step '${step.id}' lacks: ${told.join('; ')}.`)
    else if (missing.length > 0) hints.push(`Step '${step.id}' lacks something yet.`)
    else if (needsDeclaration(step)) hints.push(`Declare step '${step.id}' complete to move on.`)
  }
  return [...hints, ...step.source.hints]
}

/** The hints of the step after the current one; empty if there is none or it may not be spoken of yet. */
export function nextStepHints(state: RunState): string[] {
  const current = currentStep(state)
  const next = current === null ? undefined : state.compiled.steps[current + 1]
  return next === undefined || !isDisclosed(state, next) ? [] : [...next.source.hints]
}
