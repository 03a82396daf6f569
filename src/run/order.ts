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

/** Says whether a step may move: everything before it has, and no step before it has taken up another call (E4). */
export function isAvailable(state: RunState, step: CompiledStep): boolean {
  if (!arePredecessorsMet(state, step.predecessors)) return false
  return !isHeldBack(state, step.index)
}

/** Says whether a step before this one was complete and has a call in flight again. */
export function isHeldBack(state: RunState, index: number): boolean {
  return (
    state.reopened.length > 0 && state.reopened.some((earlier) => state.compiled.precedes(earlier, index))
  )
}

/**
 * The optional steps that a call of this step would pass over (G3), earliest first; null where something stands in the
 * way that cannot be passed: a required step, or a ticket that is still open.
 */
export function passedOver(state: RunState, step: CompiledStep): number[] | null {
  if (step.predecessors === null) return []
  const clearable = findClearable(state, step.predecessors)
  if (!isClear(state, step.predecessors, clearable)) return null
  const passed = new Set<number>()
  const waiting = [step.predecessors]
  for (let tree = waiting.pop(); tree !== undefined; tree = waiting.pop()) {
    if (arePredecessorsMet(state, tree)) continue
    if (tree.kind === 'step') {
      const before = passed.has(tree.index) ? null : state.compiled.steps[tree.index]!.predecessors
      if (before !== null) waiting.push(before)
      passed.add(tree.index)
    } else if (tree.kind === 'all') for (const each of tree.of) waiting.push(each)
    else waiting.push(tree.of.find((each) => isClear(state, each, clearable))!)
  }
  return [...passed].sort((a, b) => a - b)
}

/**
 * Which of the optional steps before can be passed, with all that stands before each. A list, not recursion, and one look
 * at each step: a playbook may hold thousands of them, and paths that cross double with every crossing.
 */
function findClearable(state: RunState, tree: Predecessors): ReadonlyMap<number, boolean> {
  const clearable = new Map<number, boolean>()
  const entered = new Set<number>()
  const waiting: number[] = []
  const enter = (tree: Predecessors): void => {
    if (tree.kind !== 'step') for (const each of tree.of) enter(each)
    else if (!isMet(state, tree.index) && isPassable(state, state.compiled.steps[tree.index]!))
      waiting.push(tree.index)
  }
  enter(tree)
  while (waiting.length > 0) {
    const index = waiting.at(-1)!
    const before = state.compiled.steps[index]!.predecessors
    if (before === null || entered.has(index)) {
      clearable.set(index, before === null || isClear(state, before, clearable))
      waiting.pop()
    } else {
      entered.add(index)
      enter(before)
    }
  }
  return clearable
}

function isClear(state: RunState, tree: Predecessors, clearable: ReadonlyMap<number, boolean>): boolean {
  if (tree.kind === 'step') return isMet(state, tree.index) || clearable.get(tree.index) === true
  return tree.kind === 'all'
    ? tree.of.every((each) => isClear(state, each, clearable))
    : tree.of.some((each) => isClear(state, each, clearable))
}

function isPassable(state: RunState, step: CompiledStep): boolean {
  // What the runtime does by itself is not passed: it will be done.
  return !step.required && step.call === null && (state.activations[step.index]?.open ?? 0) === 0
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
