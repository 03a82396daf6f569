import type { Procedure, Step } from '../program.ts'
import { computationsIn, computationsOf } from './computations-of.ts'

/** The ids of the playbooks in which a person may speak, because they listen or run one that does. */
export function conversing(procedures: readonly Procedure[]): ReadonlySet<string> {
  const callers = new Map<string, string[]>()
  for (const procedure of procedures) {
    for (const { target } of computationsOf(procedure).flatMap(({ calls }) => calls)) {
      if (target.kind === 'playbook')
        callers.set(target.id, [...(callers.get(target.id) ?? []), procedure.id])
    }
  }
  const found = new Set<string>()
  const waiting = procedures.filter(({ steps }) => holdsListening(steps)).map(({ id }) => id)
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue
    found.add(id)
    waiting.push(...(callers.get(id) ?? []))
  }
  return found
}

/** Whether a person may speak while the steps run, in them or in a playbook they run. */
export function converses(steps: readonly Step[], speaking: ReadonlySet<string>): boolean {
  if (holdsListening(steps)) return true
  return computationsIn(steps)
    .flatMap(({ calls }) => calls)
    .some(({ target }) => target.kind === 'playbook' && speaking.has(target.id))
}

/** Whether a person speaks each time the steps run to their end or begin anew. */
export function alwaysConverses(steps: readonly Step[]): boolean {
  for (const step of steps) {
    if (listens(step)) return true
    // What may go on before a person is heard makes rounds without one possible.
    if (mayContinue(step)) return false
  }
  return false
}

function holdsListening(steps: readonly Step[]): boolean {
  return steps.some((step) => listens(step) || inside(step).some(holdsListening))
}

function inside(step: Step): readonly (readonly Step[])[] {
  if (step.kind === 'if') return step.arms.map(({ steps }) => steps)
  return step.kind === 'loop' || step.kind === 'each' ? [step.steps] : []
}

function listens(step: Step): boolean {
  return step.kind === 'ask' || (step.kind === 'wait' && step.for.kind === 'message')
}

function mayContinue(step: Step): boolean {
  return (
    step.kind === 'continue' || (step.kind === 'if' && step.arms.some((arm) => arm.steps.some(mayContinue)))
  )
}
