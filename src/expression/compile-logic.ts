import type { Compilation, Compiled, Evaluate, Outcome } from './compilation.ts'
import { ExpressionError, type SourceRange } from './expression-error.ts'
import { isExhausted } from './expression-limit.ts'
import { kindOf } from './expression-value.ts'
import type { ChoiceNode, LogicNode, NotNode, SyntaxNode } from './syntax-node.ts'
import { truthOf } from './truth-of.ts'

/**
 * Compiles a part that must be true or false. In a condition anything but a boolean is an error; in a template the
 * value passes and `truthOf` judges it.
 */
export function compileTest<Host>(
  node: SyntaxNode,
  place: string,
  compilation: Compilation<Host>,
): Compiled<Host> {
  const part = compilation.compile(node)
  if (!compilation.isCondition) return part
  compilation.expect(part, node, ['boolean'], `${place} must be true or false`)
  if (part.type === 'boolean') return part
  const { evaluate } = part
  return {
    evaluate: (values, host, scope) => {
      const value = evaluate(values, host, scope)
      return value === true || value === false ? value : notBoolean(value, place, node)
    },
    type: 'boolean',
  }
}

function notBoolean(value: Outcome, place: string, range: SourceRange): ExpressionError {
  if (value instanceof ExpressionError) return value
  return new ExpressionError('wrong_type', `${place} must be true or false, not a ${kindOf(value)}`, range)
}

/**
 * Compiles `and` and `or`. Kleene: an operand that decides wins over errors on either side, so the order of the
 * operands never changes the truth; only used-up work ends the search, because then nothing can be trusted to run.
 */
export function compileLogic<Host>(node: LogicNode, compilation: Compilation<Host>): Compiled<Host> {
  const operands = node.operands.map((operand) =>
    compileTest(operand, `each side of \`${node.kind}\``, compilation),
  )
  const evaluators = operands.map((operand) => operand.evaluate)
  const decisive = node.kind === 'or'
  if (!compilation.isCondition) {
    const type = operands.every((operand) => operand.type === operands[0]!.type) ? operands[0]!.type : 'any'
    return { evaluate: pickOperand(evaluators, decisive), type }
  }
  const evaluate =
    evaluators.length === 2 ? decideTwo(evaluators, decisive) : decideMany(evaluators, decisive)
  return { evaluate, type: 'boolean' }
}

function decideTwo<Host>(evaluators: readonly Evaluate<Host>[], decisive: boolean): Evaluate<Host> {
  const [first, second] = evaluators as [Evaluate<Host>, Evaluate<Host>]
  return (values, host, scope) => {
    const left = first(values, host, scope)
    if (left === decisive) return decisive
    if (typeof left === 'boolean') return second(values, host, scope)
    if (isExhausted(scope)) return left
    const right = second(values, host, scope)
    return right === decisive || isExhausted(scope) ? right : left
  }
}

function decideMany<Host>(evaluators: readonly Evaluate<Host>[], decisive: boolean): Evaluate<Host> {
  return (values, host, scope) => {
    let error: Outcome | null = null
    for (let i = 0; i < evaluators.length; i++) {
      const value = evaluators[i]!(values, host, scope)
      if (value === decisive) return decisive
      if (typeof value === 'boolean') continue
      if (isExhausted(scope)) return value
      error ??= value
    }
    return error ?? !decisive
  }
}

/** In a template the deciding operand itself is the value, as in Python. */
function pickOperand<Host>(evaluators: readonly Evaluate<Host>[], decisive: boolean): Evaluate<Host> {
  return (values, host, scope) => {
    let error: ExpressionError | null = null
    let last: Outcome = !decisive
    for (const evaluate of evaluators) {
      const value = evaluate(values, host, scope)
      if (value instanceof ExpressionError) {
        if (isExhausted(scope)) return value
        error ??= value
      } else if (truthOf(value, scope) === decisive) return value
      else last = value
    }
    return error ?? last
  }
}

/** Compiles `not`. */
export function compileNot<Host>(node: NotNode, compilation: Compilation<Host>): Compiled<Host> {
  const { evaluate } = compileTest(node.operand, 'what follows `not`', compilation)
  return {
    evaluate: (values, host, scope) => {
      const value = evaluate(values, host, scope)
      return value instanceof ExpressionError ? value : !truthOf(value, scope)
    },
    type: 'boolean',
  }
}

/** Compiles `a if c else b`; only the chosen side is evaluated. */
export function compileChoice<Host>(node: ChoiceNode, compilation: Compilation<Host>): Compiled<Host> {
  const branches = node.branches.map(({ test, value }) => ({
    test: compileTest(test, 'the condition after `if`', compilation).evaluate,
    value: compilation.compile(value),
  }))
  const otherwise = compilation.compile(node.otherwise)
  const isOneType = branches.every(({ value }) => value.type === otherwise.type)
  return {
    evaluate: (values, host, scope) => {
      for (const branch of branches) {
        const test = branch.test(values, host, scope)
        if (test instanceof ExpressionError) return test
        if (truthOf(test, scope)) return branch.value.evaluate(values, host, scope)
      }
      return otherwise.evaluate(values, host, scope)
    },
    type: isOneType ? otherwise.type : 'any',
  }
}
