import { invariant } from '../shared/lockstep-error.ts'
import type { Activation } from './activation.ts'
import { insertSorted } from './order.ts'
import type { RunState } from './state.ts'

/** Says that the evidence of a step awaits another look. */
export function look(state: RunState, activation: Activation): void {
  if (activation.dirty) return
  activation.dirty = true
  insertSorted(state.toWeigh, activation.step)
}

/** Conditions may speak of any call and any step, so every move is a reason to look at the open steps that have them. */
export function lookAtWatchers(state: RunState): void {
  for (const index of state.shape.unsteady) {
    const activation = state.activations[index]
    if (activation?.phase === 'open') look(state, activation)
  }
  for (const index of state.compiled.watchers) {
    const activation = state.activations[index]
    if (activation === undefined) continue
    const early = activation.phase === 'waiting' && activation.status === 'in_progress'
    if (activation.phase === 'open' || early) look(state, activation)
  }
}

/** Closes complete steps that linger, because a step after them moves. */
export function closeBefore(state: RunState, index: number): void {
  for (let at = state.lingering.length - 1; at >= 0; at--) {
    const lingering = state.lingering[at]!
    if (lingering === index || !state.compiled.precedes(lingering, index)) continue
    state.activations[lingering]!.phase = 'closed'
    state.lingering.splice(at, 1)
  }
}

/** The position of a step that is known to be one. */
export function positionOf(state: RunState, id: string): number {
  const index = state.compiled.positions.get(id)
  invariant(index !== undefined, `no step ${id}`)
  return index
}
