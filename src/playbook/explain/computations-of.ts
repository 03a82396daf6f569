import type { Computation, Condition, Procedure, Step } from '../program.ts'

/** Everything that the bullets of a playbook work out by themselves, and its description. */
export function computationsOf(procedure: Procedure): readonly Computation[] {
  return [procedure.description, ...computationsIn(procedure.steps)]
}

/** Everything that steps work out by themselves. */
export function computationsIn(steps: readonly Step[]): readonly Computation[] {
  const found: Computation[] = []
  const waiting = [...steps]
  const take = (condition: Condition | null) => {
    if (condition?.kind === 'computed') found.push(condition.value)
    if (condition?.kind === 'judged' && condition.known !== undefined) found.push(condition.known.value)
  }
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    if ('value' in step && step.value !== null) found.push(step.value)
    if ('words' in step && step.words?.kind === 'literal') found.push(step.words.value)
    if (step.kind === 'ask') take(step.until)
    if (step.kind === 'if') {
      for (const arm of step.arms) {
        take(arm.condition)
        waiting.push(...arm.steps)
      }
    }
    if (step.kind === 'loop' || step.kind === 'require') take(step.condition)
    if (step.kind === 'each') found.push(step.over)
    if (step.kind === 'loop' || step.kind === 'each') waiting.push(...step.steps)
  }
  return found
}

/** Whether something holds for any of what steps work out by themselves; no list of them is made. */
export function someComputation(steps: readonly Step[], holds: (value: Computation) => boolean): boolean {
  for (const step of steps) if (stepComputes(step, holds)) return true
  return false
}

function stepComputes(step: Step, holds: (value: Computation) => boolean): boolean {
  switch (step.kind) {
    case 'set':
    case 'call':
      return holds(step.value)
    case 'return':
      return step.value !== null && holds(step.value)
    case 'say':
      return step.words.kind === 'literal' && holds(step.words.value)
    case 'ask':
      return (
        (step.words?.kind === 'literal' && holds(step.words.value)) || conditionComputes(step.until, holds)
      )
    case 'if':
      return step.arms.some(
        (arm) => conditionComputes(arm.condition, holds) || someComputation(arm.steps, holds),
      )
    case 'loop':
      return conditionComputes(step.condition, holds) || someComputation(step.steps, holds)
    case 'each':
      return holds(step.over) || someComputation(step.steps, holds)
    case 'require':
      return conditionComputes(step.condition, holds)
    default:
      return false
  }
}

function conditionComputes(condition: Condition | null, holds: (value: Computation) => boolean): boolean {
  if (condition === null) return false
  const value = condition.kind === 'computed' ? condition.value : condition.known?.value
  return value !== undefined && holds(value)
}
