import { stepsNamed } from './after.ts'
import type { PlaybookDraft } from './playbook-draft.ts'

/** Says whether the order puts one step before another, directly or through others. */
export type StepOrder = (earlier: number, later: number) => boolean

const mostVisits = 2_000_000

/**
 * The order of the steps of a draft; null where it could not be read. A hostile file could ask for billions of visits: after a while every
 * step is taken to come before every other, and the run finds out.
 */
export function stepOrder(draft: PlaybookDraft): StepOrder | null {
  const { steps } = draft
  if (draft.broken('steps') || steps.some((step) => step.broken('id') || step.broken('after'))) return null
  const ordered = steps.some((step) => step.after !== null)
  if (!ordered) return (earlier, later) => draft.strict_sequence !== false && earlier < later
  const positions = new Map(steps.map((step) => [step.id, step.index]).toReversed() as [string, number][])
  const before = steps.map((step) =>
    step.after === null
      ? []
      : stepsNamed(step.after, [])
          .map(({ id }) => positions.get(id))
          .filter((position) => position !== undefined),
  )
  let left = mostVisits
  return (earlier, later) => {
    const seen = new Set<number>()
    const waiting = [later]
    while (waiting.length > 0) {
      for (const each of before[waiting.pop()!]!) {
        if (each === earlier || --left < 0) return true
        if (seen.has(each)) continue
        seen.add(each)
        waiting.push(each)
      }
    }
    return false
  }
}
