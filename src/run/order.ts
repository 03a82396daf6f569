import type { CompiledStep, Predecessors } from '../playbook/compile-playbook.ts'
import type { RunState } from './state.ts'

/** Says whether a step no longer holds back the ones after it: completed, skipped, or an optional one that failed. */
export function isMet(state: RunState, index: number): boolean {
  const activation = state.activations[index]
  if (activation === undefined) return false
  if (activation.status === 'completed' || activation.status === 'skipped') return true
  return activation.status === 'failed' && !state.compiled.steps[index]!.required
}

/** Says whether everything that must come before a step has. */
export function arePredecessorsMet(state: RunState, tree: Predecessors | null): boolean {
  if (tree === null) return true
  if (tree.kind === 'step') return isMet(state, tree.index)
  return tree.kind === 'all'
    ? tree.of.every((each) => arePredecessorsMet(state, each))
    : tree.of.some((each) => arePredecessorsMet(state, each))
}

/**
 * The optional steps that a call of this step would pass over (G3), earliest first; null where something stands in the
 * way that cannot be passed: a required step, or a ticket that is still open.
 */
export function passedOver(state: RunState, step: CompiledStep): number[] | null {
  const passed = new Set<number>()
  return clear(state, step.predecessors, passed, new Set()) ? [...passed].sort((a, b) => a - b) : null
}

/**
 * Collects into `passed` what must be passed over for the tree to be met; false if that cannot be. `blocked` remembers
 * what was found impassable, so that no step is walked twice however the paths cross.
 */
function clear(
  state: RunState,
  tree: Predecessors | null,
  passed: Set<number>,
  blocked: Set<number>,
): boolean {
  // A loop, not recursion, along a chain: a playbook may begin with thousands of optional steps.
  const path: number[] = []
  let at = tree
  while (at !== null && at.kind === 'step') {
    if (isMet(state, at.index) || passed.has(at.index)) return true
    const step: CompiledStep = state.compiled.steps[at.index]!
    path.push(at.index)
    if (blocked.has(at.index) || !isPassable(state, step)) break
    passed.add(at.index)
    at = step.predecessors
  }
  if (at === null || (at.kind !== 'step' && clearGroup(state, at.kind, at.of, passed, blocked))) return true
  for (const index of path) blocked.add(index)
  return false
}

function clearGroup(
  state: RunState,
  kind: 'all' | 'any',
  of: readonly Predecessors[],
  passed: Set<number>,
  blocked: Set<number>,
): boolean {
  if (kind === 'all') return of.every((each) => clear(state, each, passed, blocked))
  if (of.some((each) => arePredecessorsMet(state, each))) return true
  return of.some((each) => {
    const trial = new Set(passed)
    if (!clear(state, each, trial, blocked)) return false
    for (const index of trial) passed.add(index)
    return true
  })
}

function isPassable(state: RunState, step: CompiledStep): boolean {
  return !step.required && (state.activations[step.index]?.open ?? 0) === 0
}

/** Puts a position into an ascending list, once. */
export function insertSorted(list: number[], index: number): void {
  let at = list.length
  while (at > 0 && list[at - 1]! > index) at--
  if (list[at - 1] === index) return
  if (at === list.length) list.push(index)
  else list.splice(at, 0, index)
}

/** Takes an item out of a list, if it is there. */
export function removeFrom<Item>(list: Item[], item: Item): void {
  const at = list.indexOf(item)
  if (at === -1) return
  if (at === list.length - 1) list.pop()
  else if (at === 0) list.shift()
  else list.splice(at, 1)
}
