import type { Compiled, Evaluate } from './compilation.ts'
import { readMember } from './expression-value.ts'
import type { ComparisonOperator } from './syntax-node.ts'

/** Texts up to this length are compared without counting the work. */
const shortText = 64

/**
 * Puts a short way before a comparison whose sides are members of root values or literals, as nearly all sides are:
 * it answers for two numbers and for two short texts, and leaves everything else, every error included, to `slow`.
 */
export function fastComparison<Host>(
  operator: ComparisonOperator,
  left: Compiled<Host>,
  right: Compiled<Host>,
  slow: Evaluate<Host>,
): Evaluate<Host> {
  if (operator === 'in' || operator === 'not in' || left.place === undefined) return slow
  const { slot, key } = left.place
  const literal = right.constant
  if (typeof literal === 'number') {
    return (values, host, scope) => {
      const value = readMember(values[slot], key)
      return typeof value === 'number' ? compareNumbers(operator, value, literal) : slow(values, host, scope)
    }
  }
  if (typeof literal === 'string' && (operator === '==' || operator === '!=')) {
    const wanted = operator === '=='
    return (values, host, scope) => {
      const value = readMember(values[slot], key)
      return typeof value === 'string' ? (value === literal) === wanted : slow(values, host, scope)
    }
  }
  if (right.place === undefined) return slow
  const { slot: otherSlot, key: otherKey } = right.place
  return (values, host, scope) => {
    const value = readMember(values[slot], key)
    const other = readMember(values[otherSlot], otherKey)
    if (typeof value === 'number' && typeof other === 'number') return compareNumbers(operator, value, other)
    if (typeof value === 'string' && typeof other === 'string' && value.length <= shortText) {
      if (operator === '==') return value === other
      if (operator === '!=') return value !== other
    }
    return slow(values, host, scope)
  }
}

function compareNumbers(operator: ComparisonOperator, left: number, right: number): boolean {
  switch (operator) {
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
    case '!=':
      return left !== right
    default:
      return left === right
  }
}
