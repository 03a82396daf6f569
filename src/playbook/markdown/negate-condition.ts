import type { Computation, Condition } from '../program.ts'

/** The condition that holds exactly where the given one does not. */
export function negateCondition(condition: Condition): Condition {
  if (condition.kind === 'computed') return { kind: 'computed', value: not(condition.value) }
  const { text, known } = condition
  const judged = { ...condition, text: `it is not so that ${text}` }
  if (known === undefined) return judged
  const operator = known.operator === 'and' ? 'or' : 'and'
  return { ...judged, known: { operator, value: not(known.value) } }
}

function not(value: Computation): Computation {
  return { ...value, source: `not (${value.source})` }
}
