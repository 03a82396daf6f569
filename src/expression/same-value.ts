import {
  expressionLimit,
  isExhausted,
  spend,
  spendDict,
  spendText,
  type EvaluationScope,
} from './expression-limit.ts'
import { isDict, isList, memberNames, readMember, type ExpressionValue } from './expression-value.ts'

/** Compares by value: deep, without conversion; null when the limits end the comparison first. */
export function sameValue(
  left: ExpressionValue,
  right: ExpressionValue,
  scope: EvaluationScope,
  depth = 0,
): boolean | null {
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length !== right.length) return false
    return left.length < 64 || spendText(scope, left.length) ? left === right : null
  }
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (depth > expressionLimit.dataDepth) return null
  if (isList(left) && isList(right)) {
    if (left.length !== right.length) return false
    if (!spend(scope, left.length)) return null
    for (let i = 0; i < left.length; i++) {
      const same = sameValue(left[i]!, right[i]!, scope, depth + 1)
      if (same !== true) return same
    }
    return true
  }
  if (!isDict(left) || !isDict(right)) return false
  const names = memberNames(left)
  if (names.length !== memberNames(right).length) return false
  if (!spendDict(scope, names.length)) return null
  for (const name of names) {
    const other = readMember(right, name)
    if (other === undefined) return false
    const same = sameValue(readMember(left, name)!, other, scope, depth + 1)
    if (same !== true) return same
  }
  return true
}

/** The first place of the value in the list, -1 if it is not there, or null when the limits end the search first. */
export function placeOf(
  value: ExpressionValue,
  list: readonly ExpressionValue[],
  scope: EvaluationScope,
): number | null {
  if (!spend(scope, 1 + (list.length >> 3))) return null
  let unsure = false
  for (let i = 0; i < list.length; i++) {
    const same = sameValue(list[i]!, value, scope)
    if (same === true) return i
    if (same === null) {
      if (isExhausted(scope)) return null
      unsure = true
    }
  }
  return unsure ? null : -1
}
