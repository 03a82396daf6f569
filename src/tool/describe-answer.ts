import type { PlaybookStep } from '../playbook/playbook-step.ts'
import type { EventOf, RunEvent } from '../run/event.ts'
import { currentStep, type RunState } from '../run/state.ts'
import type { Violation } from '../run/violation.ts'
import { hintsAfterDenial } from './enforcement-hints.ts'
import { EnforcementResult, EnforcementViolation } from './enforcement-result.ts'

/** The gate's answer to a call, from the events that judge it. */
export function describeAnswer(
  state: RunState,
  answer: readonly RunEvent[],
  recordViolations: boolean,
): EnforcementResult {
  let denied: EventOf<'tool.denied'> | null = null
  let admitted: EventOf<'tool.admitted'> | null = null
  let held: EventOf<'tool.held'> | null = null
  for (const event of answer) {
    if (event.type === 'tool.denied') denied = event
    if (event.type === 'tool.admitted') admitted = event
    if (event.type === 'tool.held') held = event
  }
  const owner =
    admitted === null || admitted.step === null ? null : state.compiled.playbook.getStep(admitted.step)
  const step = owner ?? currentPlaybookStep(state)
  return new EnforcementResult({
    allowed: admitted !== null,
    // Where the playbook only observes, a call that it would have denied may wait for people all the same.
    code: held === null ? (denied?.code ?? null) : 'awaiting_approval',
    message: held?.message ?? denied?.message ?? null,
    callId: admitted?.callId ?? held?.callId ?? null,
    violation: denied === null || !recordViolations ? null : describeViolation(denied),
    hints: denied === null ? (step?.hints ?? []) : hintsAfterDenial(state, denied),
    currentStep: step,
  })
}

/** A violation for people. */
export function describeViolation(violation: Violation): EnforcementViolation {
  return new EnforcementViolation({
    violationType: violation.code,
    stepId: violation.step,
    toolName: violation.tool,
    message: violation.message,
    timestamp: new Date(violation.at),
    blocked: violation.blocked,
  })
}

/** The step that is due, or null. */
export function currentPlaybookStep(state: RunState): PlaybookStep | null {
  const current = currentStep(state)
  return current === null ? null : state.compiled.steps[current]!.source
}
