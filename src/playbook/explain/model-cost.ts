import type { ModelCallBound } from './explanation.ts'

/** A bound in the making: `most` may be infinite, and then `because` says why. */
export interface ModelCost {
  readonly most: number
  readonly because: readonly string[]
  readonly besides: ReadonlyMap<string, number>
}

/** What costs nothing. */
export const free: ModelCost = { most: 0, because: [], besides: new Map() }

/** So many calls, no more. */
export function calls(most: number): ModelCost {
  return { ...free, most }
}

/** What has no bound, and why. */
export function unbounded(because: string): ModelCost {
  return { ...free, most: Number.POSITIVE_INFINITY, because: [because] }
}

/** One after the other. */
export function sum(costs: readonly ModelCost[]): ModelCost {
  const paid = costs.filter(({ most, besides }) => most > 0 || besides.size > 0)
  if (paid.length <= 1) return paid[0] ?? free
  const besides = new Map<string, number>()
  for (const cost of paid)
    for (const [each, most] of cost.besides) besides.set(each, Math.max(most, besides.get(each) ?? 0))
  return {
    most: paid.reduce((total, { most }) => total + most, 0),
    because: [...new Set(paid.flatMap(({ because }) => because))],
    besides,
  }
}

/** The dearest of several, of which one is taken. */
export function dearest(costs: readonly ModelCost[]): ModelCost {
  return { ...sum(costs), most: costs.reduce((most, cost) => Math.max(most, cost.most), 0) }
}

/** The same again, so many times. */
export function times(cost: ModelCost, turns: number): ModelCost {
  // No calls stay none, however often.
  return { ...cost, most: cost.most === 0 ? 0 : cost.most * turns }
}

/** The cost, with so much on top each time something happens. */
export function withEach(cost: ModelCost, each: string, most: number): ModelCost {
  if (most === 0) return cost
  return { ...cost, besides: new Map([...cost.besides, [each, most]]) }
}

/** The bound for people and programs; a number too large to be exact is none. */
export function boundOf({ most, because, besides }: ModelCost, limit: number | null): ModelCallBound {
  const reasons =
    most < Number.POSITIVE_INFINITY && told(most) === null ? ['the loops multiply beyond counting'] : because
  return {
    most: told(most),
    because: reasons,
    limit,
    besides: [...besides].map(([each, number]) => ({ each, most: told(number) })),
  }
}

function told(number: number): number | null {
  return Number.isSafeInteger(number) ? number : null
}
