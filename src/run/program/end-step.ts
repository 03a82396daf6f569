import type { Target } from '../../playbook/program.ts'
import type { Json } from '../../shared/json.ts'
import type { RunEvent } from '../event.ts'
import { setVariable, typeProblem, type ProgramContext } from './context.ts'
import type { Frame } from './program-state.ts'

/** The event that ends a bullet well. */
export function completeStep({ at }: ProgramContext, step: string, result: string | null = null): RunEvent {
  return { type: 'step.completed', at, step, by: 'program', result, outOfOrder: false }
}

/** The event that says a bullet went wrong. */
export function failStep({ at }: ProgramContext, step: string, error: string): RunEvent {
  return { type: 'step.failed', at, step, by: 'program', error, limit: null }
}

/** The events that put values where a bullet says and end it; a value of the wrong type fails it. */
export function putAll(
  context: ProgramContext,
  frame: Frame,
  step: string,
  values: readonly (readonly [Target, Json])[],
): readonly RunEvent[] {
  for (const [target, value] of values) {
    const problem = typeProblem(target.type, value)
    if (problem !== null) return [failStep(context, step, `$${target.name}: ${problem}`)]
  }
  return [
    ...values.map(([target, value]) => setVariable(context, frame, target, value)),
    completeStep(context, step),
  ]
}

/** The events that end everything a playbook has begun, from the inside out, up to and including one bullet; all of it without one. */
export function closeSteps(context: ProgramContext, frame: Frame, upTo: string | null = null): RunEvent[] {
  const owners = frame.cursors.map(({ block }) => block).filter((block) => context.compiled.steps.has(block))
  const open = [...owners, ...(frame.at === null || owners.includes(frame.at) ? [] : [frame.at])].toReversed()
  const last = upTo === null ? open.length : open.indexOf(upTo) + 1
  return open.slice(0, last).map((step) => completeStep(context, step))
}
