import { Compilation, type ExpressionCall, type ExpressionReference, type Outcome } from './compilation.ts'
import { compileNode } from './compile-node.ts'
import type { ContextFunction } from './context-function.ts'
import { ExpressionError } from './expression-error.ts'
import { expressionLimit, isExhausted, tooMuchWork, type EvaluationScope } from './expression-limit.ts'
import { kindOf, type ExpressionValue } from './expression-value.ts'
import { parseExpression } from './parse-expression.ts'
import type { SyntaxNode } from './syntax-node.ts'
import { isWithinLimits } from './write-text.ts'

export type { ContextFunction } from './context-function.ts'
export type { ExpressionCall, ExpressionReference } from './compilation.ts'

/** What an expression may use, and whether it is a condition or a template. */
export interface CompileOptions<Host> {
  readonly profile: 'condition' | 'template'
  /** The legal root names; `evaluate` takes their values in this order. */
  readonly names: readonly string[]
  readonly functions?: readonly ContextFunction<Host>[]
  /** Whether `$name` is a way to write a name too, as in Markdown playbooks. */
  readonly sigil?: boolean
}

/** An expression that has been checked, ready to be evaluated any number of times. */
export interface CompiledExpression<Host> {
  readonly source: string
  /** Each use of a root name with its fixed member chain, up to the first computed index. */
  readonly references: readonly ExpressionReference[]
  readonly calls: readonly ExpressionCall[]
  /**
   * The value, or why there is none; a condition gives a boolean. Throws only what a lazy record or a context
   * function throws.
   */
  evaluate(values: readonly (ExpressionValue | undefined)[], host: Host): ExpressionValue | ExpressionError
}

/** The compiled expression, or every error that was found in it. */
export type CompileResult<Host> =
  | { readonly expression: CompiledExpression<Host>; readonly errors: readonly [] }
  | { readonly expression: null; readonly errors: readonly ExpressionError[] }

/** Checks an expression and compiles it once to closures; never throws for any source. */
export function compileExpression<Host>(source: string, options: CompileOptions<Host>): CompileResult<Host> {
  const node = parseExpression(source)
  return node instanceof ExpressionError
    ? { expression: null, errors: [node] }
    : compileSyntax(node, source, options)
}

/** Checks and compiles a tree that was read from the source. */
export function compileSyntax<Host>(
  node: SyntaxNode,
  source: string,
  options: CompileOptions<Host>,
): CompileResult<Host> {
  const compilation = new Compilation<Host>(source, options, compileNode)
  const part = compilation.compile(node)
  const { isCondition, builds } = compilation
  if (isCondition) compilation.expect(part, node, ['boolean'], 'a condition must be true or false')
  if (compilation.errors.length > 0) {
    return { expression: null, errors: compilation.errors.toSorted((a, b) => a.start - b.start) }
  }
  const finish = isCondition ? finishCondition : finishTemplate
  const { evaluate } = part
  const locals = compilation.localCount
  const shared = newScope(locals)
  const { references, calls } = compilation
  return {
    expression: {
      source,
      references,
      calls,
      evaluate: (values, host) => {
        // A context function may evaluate the same expression again, or throw and leave the scope busy; only then
        // is a second scope made.
        const scope = shared.busy ? newScope(locals) : shared
        scope.busy = true
        scope.work = expressionLimit.work
        const value = evaluate(values, host, scope)
        scope.busy = false
        if (locals > 0) scope.locals.fill(undefined)
        if (value === true || value === false) return isExhausted(scope) ? tooMuchWork(node) : value
        return finish(value, node, scope, builds)
      },
    },
    errors: [],
  }
}

function newScope(locals: number): EvaluationScope {
  return { work: 0, busy: false, locals: Array.from({ length: locals }) }
}

function finishCondition(value: Outcome, node: SyntaxNode): Outcome {
  if (value instanceof ExpressionError) return value
  return new ExpressionError('wrong_type', `a condition must be true or false, not a ${kindOf(value)}`, node)
}

function finishTemplate(value: Outcome, node: SyntaxNode, scope: EvaluationScope, builds: boolean): Outcome {
  if (value instanceof ExpressionError) return value
  if (isExhausted(scope)) return tooMuchWork(node)
  if (kindOf(value) === 'unsupported')
    return new ExpressionError('wrong_type', 'the value is not plain data', node)
  if (!builds || isWithinLimits(value, scope)) return value
  return new ExpressionError('expression_limit', 'the value becomes too large', node)
}
