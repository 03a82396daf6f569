import { expressionLimit, spend, spendDict, spendText, type EvaluationScope } from './expression-limit.ts'
import { isList, memberNames, readMember, type ExpressionValue } from './expression-value.ts'

/**
 * The text of a value: a string as it is, everything else as compact JSON; null when the limits end it first.
 * Written by hand because `JSON.stringify` would call a host object's `toJSON`.
 */
export function writeText(value: ExpressionValue, scope: EvaluationScope): string | null {
  if (typeof value === 'string') return value
  const text = writeJson(value, scope, 0)
  return text !== null && text.length <= expressionLimit.textLength ? text : null
}

function writeJson(value: ExpressionValue, scope: EvaluationScope, depth: number): string | null {
  if (typeof value === 'string') return spendText(scope, value.length) ? JSON.stringify(value) : null
  if (typeof value === 'number') return String(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || depth > expressionLimit.dataDepth) return null
  const parts: string[] = []
  let length = 2
  if (isList(value)) {
    if (!spend(scope, value.length)) return null
    for (const item of value) {
      const text = writeJson(item, scope, depth + 1)
      if (text === null || (length += text.length + 1) > expressionLimit.textLength) return null
      parts.push(text)
    }
    return `[${parts.join(',')}]`
  }
  const names = memberNames(value)
  if (!spendDict(scope, names.length)) return null
  for (const name of names) {
    const text = writeJson(readMember(value, name)!, scope, depth + 1)
    if (text === null || (length += name.length + text.length + 4) > expressionLimit.textLength) return null
    parts.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${parts.join(',')}}`
}

/** Says whether the value, with everything in it, stays within the limits of size and depth. */
export function isWithinLimits(value: ExpressionValue, scope: EvaluationScope, depth = 0): boolean {
  if (typeof value === 'string') return spendText(scope, value.length)
  if (typeof value !== 'object' || value === null) return spend(scope, 1)
  if (depth > expressionLimit.dataDepth) return false
  if (isList(value)) {
    return spend(scope, 1) && value.every((item) => isWithinLimits(item, scope, depth + 1))
  }
  const names = memberNames(value)
  return (
    spendDict(scope, names.length) &&
    names.every((name) => isWithinLimits(readMember(value, name)!, scope, depth + 1))
  )
}
