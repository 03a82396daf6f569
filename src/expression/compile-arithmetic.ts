import type { Compilation, Compiled, Evaluate, Outcome, StaticType } from './compilation.ts'
import { ExpressionError, type SourceRange } from './expression-error.ts'
import { expressionLimit, spend, spendText, tooMuchWork, type EvaluationScope } from './expression-limit.ts'
import { isList, kindOf, type ExpressionValue } from './expression-value.ts'
import type { ArithmeticNode, ArithmeticOperator, NegateNode, PowerNode } from './syntax-node.ts'

type Combine = (
  left: ExpressionValue,
  right: ExpressionValue,
  scope: EvaluationScope,
  range: SourceRange,
) => Outcome

/** Compiles a run of `+ -` or `* / // %`, from left to right. */
export function compileArithmetic<Host>(
  node: ArithmeticNode,
  compilation: Compilation<Host>,
): Compiled<Host> {
  const first = compilation.compile(node.first)
  let type = first.type
  const rest = node.rest.map(({ operator, operand }) => {
    const part = compilation.compile(operand)
    const range = { start: node.first.start, end: operand.end }
    type = checkOperands(operator, type, part.type, range, compilation)
    return { combine: combineOf(operator, compilation.isCondition), evaluate: part.evaluate, range }
  })
  const start = first.evaluate
  if (rest.length === 1)
    return { evaluate: combineTwo(start, rest[0]!.evaluate, rest[0]!.combine, node), type }
  const evaluate: Evaluate<Host> = (values, host, scope) => {
    let total = start(values, host, scope)
    for (const each of rest) {
      if (total instanceof ExpressionError) return total
      const operand = each.evaluate(values, host, scope)
      total = operand instanceof ExpressionError ? operand : each.combine(total, operand, scope, each.range)
    }
    return total
  }
  return { evaluate, type }
}

function combineTwo<Host>(
  left: Evaluate<Host>,
  right: Evaluate<Host>,
  combine: Combine,
  range: SourceRange,
): Evaluate<Host> {
  return (values, host, scope) => {
    const a = left(values, host, scope)
    if (a instanceof ExpressionError) return a
    const b = right(values, host, scope)
    return b instanceof ExpressionError ? b : combine(a, b, scope, range)
  }
}

function isText(type: StaticType): boolean {
  return type === 'string' || type === 'list'
}

function checkOperands<Host>(
  operator: ArithmeticOperator,
  left: StaticType,
  right: StaticType,
  range: SourceRange,
  compilation: Compilation<Host>,
): StaticType {
  if (compilation.isCondition && (operator === '+' || operator === '*') && (isText(left) || isText(right))) {
    compilation.report(
      'not_in_condition',
      `a condition builds no strings or lists, so \`${operator}\` takes numbers only`,
      range,
    )
    return 'any'
  }
  if (!compilation.isCondition && operator === '+') {
    if (left === right && isText(left)) return left
    if (left === 'any' && right === 'any') return 'any'
    if ((left === 'any' && isText(right)) || (right === 'any' && isText(left)))
      return left === 'any' ? right : left
  }
  if (!compilation.isCondition && operator === '*') {
    if (isText(left) && (right === 'number' || right === 'any')) return left
    if (left === 'any') return 'any'
  }
  if ([left, right].every((type) => type === 'any' || type === 'number')) return 'number'
  compilation.report('wrong_type', mismatch(operator, left, right), range)
  return 'any'
}

function mismatch(operator: string, left: string, right: string): string {
  const hint = operator === '+' && [left, right].includes('string') ? '; write str(x), or an f-string' : ''
  return `\`${operator}\` cannot combine a ${left} and a ${right}${hint}`
}

function wrongOperands(
  operator: string,
  left: ExpressionValue,
  right: ExpressionValue,
  range: SourceRange,
): ExpressionError {
  return new ExpressionError('wrong_type', mismatch(operator, kindOf(left), kindOf(right)), range)
}

function finite(value: number, range: SourceRange): number | ExpressionError {
  return Number.isFinite(value)
    ? value
    : new ExpressionError('out_of_range', 'the result is too large', range)
}

function numeric(operator: string, apply: (left: number, right: number) => number | null): Combine {
  return (left, right, _scope, range) => {
    if (typeof left !== 'number' || typeof right !== 'number')
      return wrongOperands(operator, left, right, range)
    const value = apply(left, right)
    return value === null
      ? new ExpressionError('out_of_range', 'division by zero', range)
      : finite(value, range)
  }
}

const numbers: Readonly<Record<ArithmeticOperator, Combine>> = {
  '+': numeric('+', (left, right) => left + right),
  '-': numeric('-', (left, right) => left - right),
  '*': numeric('*', (left, right) => left * right),
  '/': numeric('/', (left, right) => (right === 0 ? null : left / right)),
  '//': numeric('//', (left, right) => (right === 0 ? null : floorDivide(left, right))),
  '%': numeric('%', (left, right) => (right === 0 ? null : modulo(left, right))),
}

function combineOf(operator: ArithmeticOperator, isCondition: boolean): Combine {
  if (isCondition) return numbers[operator]
  if (operator === '+') return add
  return operator === '*' ? multiply : numbers[operator]
}

/** The remainder with the sign of the divisor, as in Python. */
export function modulo(left: number, right: number): number {
  const rest = left % right
  return rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest
}

/** Division rounded down, from the exact remainder, so that `1 // 0.1` is 9 as in Python. */
export function floorDivide(left: number, right: number): number {
  const quotient = (left - modulo(left, right)) / right
  return Math.round(quotient)
}

const add: Combine = (left, right, scope, range) => {
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length + right.length > expressionLimit.textLength) return tooLong('string', range)
    return spendText(scope, left.length + right.length) ? left + right : tooMuchWork(range)
  }
  if (isList(left) && isList(right)) {
    if (left.length + right.length > expressionLimit.listLength) return tooLong('list', range)
    return spend(scope, left.length + right.length) ? [...left, ...right] : tooMuchWork(range)
  }
  return numbers['+'](left, right, scope, range)
}

const multiply: Combine = (left, right, scope, range) => {
  if ((typeof left !== 'string' && !isList(left)) || typeof right !== 'number') {
    return numbers['*'](left, right, scope, range)
  }
  if (!Number.isInteger(right)) {
    return new ExpressionError('wrong_type', 'a string or list is repeated a whole number of times', range)
  }
  const times = Math.max(0, right)
  const isString = typeof left === 'string'
  const length = left.length * times
  if (length > (isString ? expressionLimit.textLength : expressionLimit.listLength)) {
    return tooLong(isString ? 'string' : 'list', range)
  }
  if (!(isString ? spendText(scope, length) : spend(scope, length))) return tooMuchWork(range)
  // Repeating nothing is free, so the count must not decide how long it takes.
  if (length === 0) return isString ? '' : []
  return isString ? left.repeat(times) : Array.from({ length }, (_, i) => left[i % left.length]!)
}

function tooLong(what: string, range: SourceRange): ExpressionError {
  return new ExpressionError('expression_limit', `the ${what} becomes too long`, range)
}

/** Compiles a leading minus. */
export function compileNegate<Host>(node: NegateNode, compilation: Compilation<Host>): Compiled<Host> {
  const operand = compilation.compile(node.operand)
  compilation.expect(operand, node.operand, ['number'], '`-` takes a number')
  if (typeof operand.constant === 'number') {
    const constant = 0 - operand.constant
    return { evaluate: () => constant, type: 'number', constant }
  }
  const { evaluate } = operand
  return {
    evaluate: (values, host, scope) => {
      const value = evaluate(values, host, scope)
      if (value instanceof ExpressionError) return value
      if (typeof value === 'number') return 0 - value
      return new ExpressionError('wrong_type', `\`-\` takes a number, not a ${kindOf(value)}`, node)
    },
    type: 'number',
  }
}

/** Compiles `**`, for whole exponents only: multiplication gives the same bits on every machine, `Math.pow` need not. */
export function compilePower<Host>(node: PowerNode, compilation: Compilation<Host>): Compiled<Host> {
  const base = compilation.compile(node.base)
  const exponent = compilation.compile(node.exponent)
  compilation.expect(base, node.base, ['number'], '`**` takes numbers')
  compilation.expect(exponent, node.exponent, ['number'], '`**` takes numbers')
  return { evaluate: combineTwo(base.evaluate, exponent.evaluate, raise, node), type: 'number' }
}

const raise: Combine = (left, right, _scope, range) => {
  if (typeof left !== 'number' || typeof right !== 'number') return wrongOperands('**', left, right, range)
  if (!Number.isInteger(right) || Math.abs(right) > expressionLimit.exponent) {
    const message = `an exponent is a whole number from -${expressionLimit.exponent} to ${expressionLimit.exponent}`
    return new ExpressionError('out_of_range', message, range)
  }
  if (left === 0 && right < 0) return new ExpressionError('out_of_range', 'division by zero', range)
  const power = powerOf(left, Math.abs(right))
  if (right >= 0) return finite(power, range)
  // Where the positive power is too large to be written, the small one can still be.
  return finite(Number.isFinite(power) ? 1 / power : powerOf(1 / left, -right), range)
}

/** By squaring, so that every engine gives the same bits. */
function powerOf(base: number, exponent: number): number {
  let power = 1
  for (let square = base, rest = exponent; rest > 0; rest >>= 1, square *= square) {
    if (rest % 2 === 1) power *= square
  }
  return power
}
