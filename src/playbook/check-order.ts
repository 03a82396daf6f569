import { type After, normaliseAfter, stepsNamed } from './after.ts'
import { type CheckContext, stepPath } from './check-context.ts'
import { findCycles } from './find-cycles.ts'

/** Reports what is wrong with the order of steps: unknown steps, circles, steps nobody gets to, two orders at once. */
export function checkOrder({ draft, report, wording, alone, didYouMean }: CheckContext): void {
  if (alone) return
  const steps = draft.steps.filter((step) => step.after !== null)
  if (draft.strict_sequence === true && steps.length > 0) {
    report(
      'conflicting_keys',
      ['strict_sequence'],
      `${wording.key('strict_sequence')} is true, but ${wording.step(steps[0]!.index)} says ${wording.key('after')}`,
      { suggestion: `remove ${wording.key('strict_sequence')}, or every ${wording.key('after')}` },
    )
  }
  // A step whose id could not be read may be the one that is meant.
  if (draft.broken('steps') || draft.steps.some((step) => step.broken('id'))) return

  const positions = new Map(
    draft.steps.map((step) => [step.id, step.index]).toReversed() as [string, number][],
  )
  const before = draft.steps.map((): number[] => [])
  for (const step of steps) {
    for (const { id, path } of stepsNamed(step.after!, stepPath(step, 'after'))) {
      const position = positions.get(id)
      if (position !== undefined) before[step.index]!.push(position)
      else {
        const message = `${wording.key('after')} of ${wording.step(step.index)} names the step \`${id}\`, which does not exist`
        report('unknown_step', path, message, didYouMean(id, positions.keys()))
      }
    }
  }

  const cycles = findCycles(before)
  for (const cycle of cycles) {
    const names = circle(cycle.map((index) => draft.steps[index]!.id))
    report('cyclic_order', ['steps', cycle[0]!, 'after'], `the order of steps is a circle: ${names}`)
  }
  if (cycles.length === 0) return
  const inCycle = new Set(cycles.flat())
  const trees = draft.steps.map((step) => (step.after === null ? null : normaliseAfter(step.after)))
  for (const index of unreachable(trees, positions)) {
    if (inCycle.has(index)) continue
    report(
      'unreachable_step',
      ['steps', index, 'after'],
      `${wording.step(index)} can never be reached: it waits for steps in a circle`,
    )
  }
}

/** The names in walking order, back to the first; the middle of a long circle is left out. */
function circle(ids: readonly string[]): string {
  const shown = ids.length <= 8 ? ids : [...ids.slice(0, 6), '...', ids.at(-1)!]
  return [...shown, ids[0]!].join(' → ')
}

/** The positions of the steps that no order of completion ever opens. */
function unreachable(trees: readonly (After | null)[], positions: ReadonlyMap<string, number>): number[] {
  const reached = new Set<number>()
  const isMet = (after: After): boolean => {
    // An unknown step has its own report.
    if (after.kind === 'step') return !positions.has(after.id) || reached.has(positions.get(after.id)!)
    return after.kind === 'all' ? after.of.every(isMet) : after.of.some(isMet)
  }
  for (let before = -1; before !== reached.size;) {
    before = reached.size
    trees.forEach((after, index) => {
      if (after === null || isMet(after)) reached.add(index)
    })
  }
  return trees.map((_, index) => index).filter((index) => !reached.has(index))
}
