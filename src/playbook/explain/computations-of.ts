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
