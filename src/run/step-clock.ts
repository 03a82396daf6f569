import type { Activation } from './activation.ts'
import { isHeldBack } from './order.ts'
import type { RunState } from './state.ts'

/** Time counts against a step once it was due or has begun; due for no time at all, between two events, does not count. */
export function activateCurrent(state: RunState, at: number): void {
  const first = state.open[0]
  for (let index = state.timed.length - 1; index >= 0; index--) {
    const activation = state.timed[index]!
    const begun = activation.tickets.length > 0 || activation.activeMs > 0
    if (activation.step === first || begun || (activation.activeSince ?? at) < at) continue
    activation.activeSince = null
    state.timed.splice(index, 1)
  }
  if (first !== undefined) startClock(state, state.activations[first]!, at)
}

/** Lets time count against a step that has a timeout, from now on or from when the run goes on and nothing holds it back. */
export function startClock(state: RunState, activation: Activation, at: number): void {
  if (activation.activeSince !== null || state.compiled.steps[activation.step]!.timeout === null) return
  if (!state.timed.includes(activation)) state.timed.push(activation)
  if (isRunning(state) && !isHeldBack(state, activation.step)) activation.activeSince = at
}

/** Lets time count again for every active step, if nothing keeps the run from going on; those held back go on waiting. */
export function startClocks(state: RunState, at: number): void {
  if (!isRunning(state)) return
  for (const activation of state.timed) if (!isHeldBack(state, activation.step)) activation.activeSince ??= at
}

/** Time stands still for every step: the run has ended, failed or waits for a person. */
export function stopClocks(state: RunState, at: number): void {
  for (const activation of state.timed) stopClock(activation, at)
}

/** Time stands still for one step; what it has spent is kept. */
export function stopClock(activation: Activation, at: number): void {
  if (activation.activeSince === null) return
  activation.activeMs += Math.max(0, at - activation.activeSince)
  activation.activeSince = null
}

/** Says whether a step has used up its active time. */
export function isOverdue(state: RunState, activation: Activation, at: number): boolean {
  const { timeout } = state.compiled.steps[activation.step]!
  if (timeout === null || activation.activeSince === null) return false
  return activation.activeMs + (at - activation.activeSince) >= timeout
}

function isRunning(state: RunState): boolean {
  if (state.suspension !== null || state.cancellation !== null) return false
  return state.ended === null && state.paused === 0 && state.failedRequired === 0
}

/** When a step's time will be over, if nothing stops its clock; null where it stands still. */
export function deadlineOf(state: RunState, activation: Activation): number | null {
  const { timeout } = state.compiled.steps[activation.step]!
  if (timeout === null || activation.activeSince === null) return null
  return activation.activeSince + timeout - activation.activeMs
}
