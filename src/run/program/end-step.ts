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
  const open = openSteps(context, frame)
  const last = upTo === null ? open.length : open.indexOf(upTo) + 1
  return open.slice(0, last).map((step) => completeStep(context, step))
}

/** The events that end what a playbook that fails has begun, but the bullet that failed. */
export function abandonSteps(context: ProgramContext, frame: Frame, failed: string | null): RunEvent[] {
  return openSteps(context, frame)
    .filter((step) => step !== failed)
    .map((step) => failStep(context, step, 'the playbook failed'))
}

function openSteps({ compiled }: ProgramContext, { cursors, at }: Frame): string[] {
  const owners = cursors.map(({ block }) => block).filter((block) => compiled.steps.has(block))
  return [...owners, ...(at === null || owners.includes(at) ? [] : [at])].toReversed()
}
