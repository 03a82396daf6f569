import type { Compilation, Compiled, Evaluate, Outcome, StaticType } from './compilation.ts'
import { ExpressionError, type SourceRange } from './expression-error.ts'
import { isExhausted, spend, spendText, tooMuchWork, type EvaluationScope } from './expression-limit.ts'
import { isDict, isList, kindOf, readMember, type ExpressionValue } from './expression-value.ts'
import { fastComparison } from './fast-comparison.ts'
import { placeOf, sameValue } from './same-value.ts'
import type { ComparisonNode, ComparisonOperator } from './syntax-node.ts'

type Compare = (
  left: ExpressionValue,
  right: ExpressionValue,
  scope: EvaluationScope,
  range: SourceRange,
) => Outcome

/** Compiles a comparison; a chain is the conjunction of its neighbours, each operand evaluated once. */
export function compileComparison<Host>(
  node: ComparisonNode,
  compilation: Compilation<Host>,
): Compiled<Host> {
  const operands = [node.first, ...node.rest.map((each) => each.operand)].map((each) =>
    compilation.compile(each),
  )
  node.rest.forEach(({ operator, operand }, i) => {
    const sides = [operands[i]!, operands[i + 1]!] as const
    checkSides(operator, sides, { start: node.first.start, end: operand.end }, compilation)
  })
  if (node.rest.length === 1) {
    const { operator } = node.rest[0]!
    const [left, right] = operands as [Compiled<Host>, Compiled<Host>]
    const slow = comparePair(left, right, comparisons[operator], node)
    return { evaluate: fastComparison(operator, left, right, slow), type: 'boolean' }
  }
  const evaluators = operands.map((operand) => operand.evaluate)
  return { evaluate: compareChain(evaluators, node), type: 'boolean' }
}

function checkSides<Host>(
  operator: ComparisonOperator,
  [left, right]: readonly [Compiled<Host>, Compiled<Host>],
  range: SourceRange,
  compilation: Compilation<Host>,
): void {
  if (operator === '==' || operator === '!=') return
  if (operator === 'in' || operator === 'not in') {
    compilation.expect(
      right,
      range,
      ['list', 'string', 'dict'],
      `\`${operator}\` looks into a list, a string or a dict`,
    )
    return
  }
  const isMixed = left.type !== 'any' && right.type !== 'any' && left.type !== right.type
  if (isMixed || !isOrdered(left.type) || !isOrdered(right.type)) {
    compilation.report('wrong_type', notOrdered(operator, left.type, right.type), range)
  }
}

function isOrdered(type: StaticType): boolean {
  return type === 'any' || type === 'number' || type === 'string'
}

function notOrdered(operator: string, left: string, right: string): string {
  const [first, second] = [left, right].map((kind) => (kind === 'any' ? 'value' : kind))
  return `\`${operator}\` compares two numbers or two strings, not a ${first} and a ${second}`
}

function comparePair<Host>(
  left: Compiled<Host>,
  right: Compiled<Host>,
  compare: Compare,
  range: SourceRange,
): Evaluate<Host> {
  const first = left.evaluate
  const constant = right.constant
  if (constant !== undefined) {
    return (values, host, scope) => {
      const a = first(values, host, scope)
      return a instanceof ExpressionError ? a : compare(a, constant, scope, range)
    }
  }
  const second = right.evaluate
  return (values, host, scope) => {
    const a = first(values, host, scope)
    if (a instanceof ExpressionError) return a
    const b = second(values, host, scope)
    return b instanceof ExpressionError ? b : compare(a, b, scope, range)
  }
}

function compareChain<Host>(evaluators: readonly Evaluate<Host>[], node: ComparisonNode): Evaluate<Host> {
  const compares = node.rest.map(({ operator }) => comparisons[operator])
  return (values, host, scope) => {
    let error: ExpressionError | null = null
    let left = evaluators[0]!(values, host, scope)
    for (let i = 0; i < compares.length; i++) {
      if (isExhausted(scope)) return left
      const right = evaluators[i + 1]!(values, host, scope)
      const pair =
        left instanceof ExpressionError
          ? left
          : right instanceof ExpressionError
            ? right
            : compares[i]!(left, right, scope, node)
      if (pair === false) return false
      if (pair instanceof ExpressionError) error ??= pair
      left = right
    }
    return error ?? true
  }
}

const comparisons: Readonly<Record<ComparisonOperator, Compare>> = {
  '==': isSame,
  '!=': (left, right, scope, range) => {
    const same = isSame(left, right, scope, range)
    return typeof same === 'boolean' ? !same : same
  },
  '<': (left, right, scope, range) => {
    if (typeof left === 'number' && typeof right === 'number') return left < right
    const order = orderOfTexts('<', left, right, scope, range)
    return typeof order === 'number' ? order < 0 : order
  },
  '<=': (left, right, scope, range) => {
    if (typeof left === 'number' && typeof right === 'number') return left <= right
    const order = orderOfTexts('<=', left, right, scope, range)
    return typeof order === 'number' ? order <= 0 : order
  },
  '>': (left, right, scope, range) => {
    if (typeof left === 'number' && typeof right === 'number') return left > right
    const order = orderOfTexts('>', left, right, scope, range)
    return typeof order === 'number' ? order > 0 : order
  },
  '>=': (left, right, scope, range) => {
    if (typeof left === 'number' && typeof right === 'number') return left >= right
    const order = orderOfTexts('>=', left, right, scope, range)
    return typeof order === 'number' ? order >= 0 : order
  },
  in: isIn,
  'not in': (left, right, scope, range) => {
    const found = isIn(left, right, scope, range)
    return typeof found === 'boolean' ? !found : found
  },
}

function isSame(
  left: ExpressionValue,
  right: ExpressionValue,
  scope: EvaluationScope,
  range: SourceRange,
): boolean | ExpressionError {
  if (typeof left !== 'object' && typeof left !== 'string') return left === right
  return sameValue(left, right, scope) ?? tooMuchWork(range)
}

function isIn(
  part: ExpressionValue,
  whole: ExpressionValue,
  scope: EvaluationScope,
  range: SourceRange,
): boolean | ExpressionError {
  if (isList(whole)) {
    const place = placeOf(part, whole, scope)
    return place === null ? tooMuchWork(range) : place >= 0
  }
  if (typeof part === 'string') {
    // The search may compare each character of the part at each place.
    if (typeof whole === 'string') {
      return spendText(scope, whole.length * (1 + (part.length >> 6)))
        ? whole.includes(part)
        : tooMuchWork(range)
    }
    if (isDict(whole)) return spend(scope, 1) ? readMember(whole, part) !== undefined : tooMuchWork(range)
  }
  const message =
    typeof whole === 'string' || isDict(whole)
      ? `only a string can be in a ${kindOf(whole)}, not a ${kindOf(part)}`
      : `\`in\` looks into a list, a string or a dict, not a ${kindOf(whole)}`
  return new ExpressionError('wrong_type', message, range)
}

/** How two strings are ordered, by their UTF-16 units; an error for anything but two strings. */
function orderOfTexts(
  operator: string,
  left: ExpressionValue,
  right: ExpressionValue,
  scope: EvaluationScope,
  range: SourceRange,
): number | ExpressionError {
  if (typeof left === 'string' && typeof right === 'string') {
    if (!spendText(scope, Math.min(left.length, right.length))) return tooMuchWork(range)
    return left < right ? -1 : left > right ? 1 : 0
  }
  return new ExpressionError('wrong_type', notOrdered(operator, kindOf(left), kindOf(right)), range)
}
