import { spendDict, type EvaluationScope } from './expression-limit.ts'
import { isList, memberNames, type ExpressionValue } from './expression-value.ts'

/** Truth as templates see it, as in Python: `false`, `null`, 0 and what is empty are false, the rest is true. */
export function truthOf(value: ExpressionValue, scope: EvaluationScope): boolean {
  if (typeof value === 'boolean') return value
  if (value === null || value === 0 || value === '') return false
  if (typeof value !== 'object') return true
  if (isList(value)) return value.length > 0
  const size = memberNames(value).length
  spendDict(scope, size)
  return size > 0
}
