import type { ContextFunction } from '../expression/compile-expression.ts'
import type { ExpressionValue } from '../expression/expression-value.ts'
import { pastKey, pastShape, type PastTally } from './past-query.ts'

/** Where a condition stands decides what it may look at. */
export type ConditionKind = 'when' | 'require' | 'evidence'

/** The names each kind of condition sees, in the order of their slots. */
export const scopes: Readonly<Record<ConditionKind, readonly string[]>> = {
  when: ['inputs', 'steps'],
  require: ['inputs', 'steps', 'args', 'tool'],
  evidence: ['inputs', 'steps', 'results', 'calls'],
}

/** What a condition asks about earlier calls: answered from indexes, never by scanning history. */
export interface Past {
  tally(shape: string, key: string): PastTally | undefined
}

/** `succeeded`, `failed`, `count` and `result`: the questions a condition may ask about the past. */
export const pastFunctions: readonly ContextFunction<Past>[] = [
  pastFunction('succeeded', 'boolean', (tally) => tally !== undefined && tally.succeeded > 0),
  pastFunction('failed', 'boolean', (tally) => tally !== undefined && tally.failed > 0),
  // Whatever may have had an effect counts: open and unknown calls as much as succeeded ones.
  pastFunction('count', 'number', (tally) => (tally === undefined ? 0 : tally.succeeded + tally.open)),
  pastFunction('result', 'any', (tally) => tally?.result),
]

function pastFunction(
  name: string,
  returns: ContextFunction<Past>['returns'],
  answer: (tally: PastTally | undefined) => ExpressionValue | undefined,
): ContextFunction<Past> {
  return {
    name,
    literal: true,
    keywords: true,
    returns,
    bind(literal, keywordNames) {
      const shape = pastShape(literal ?? '', keywordNames)
      const order = keywordNames.toSorted().map((keyword) => keywordNames.indexOf(keyword))
      return (past, values) => answer(past.tally(shape, pastKey(order.map((position) => values[position]!))))
    },
  }
}
