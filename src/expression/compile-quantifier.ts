import type { Compilation, Compiled, Evaluate, Outcome } from './compilation.ts'
import { compileLoop, type LoopState } from './compile-comprehension.ts'
import { compileLogic, compileTest } from './compile-logic.ts'
import { ExpressionError } from './expression-error.ts'
import { isExhausted, spend, tooMuchWork } from './expression-limit.ts'
import { isList, kindOf } from './expression-value.ts'
import type { CallNode, ComprehensionNode, ListNode, SyntaxNode } from './syntax-node.ts'
import { truthOf } from './truth-of.ts'

/** Compiles `any(…)` and `all(…)`. Kleene: one element that decides wins over errors in the others, in any order. */
export function compileQuantifier<Host>(node: CallNode, compilation: Compilation<Host>): Compiled<Host> {
  compilation.refuseKeywords(node.keywords, node.name)
  const [argument, ...others] = node.positional
  if (argument === undefined || others.length > 0) {
    return compilation.report(
      'wrong_arguments',
      `\`${node.name}\` takes one list or \`… for x in items\``,
      node,
    )
  }
  const decisive = node.name === 'any'
  const isLoop = argument.kind === 'comprehension' && argument.form === 'generator'
  if (isLoop) return { evaluate: overLoop(argument, decisive, compilation), type: 'boolean' }
  if (argument.kind === 'list' && argument.items.length > 0) return overItems(argument, decisive, compilation)
  return { evaluate: overList(argument, node.name, decisive, compilation), type: 'boolean' }
}

/** A list that is written out is judged item by item, as `and` and `or` would, so that one that decides wins here too. */
function overItems<Host>(node: ListNode, decisive: boolean, compilation: Compilation<Host>): Compiled<Host> {
  const { items, start, end } = node
  const { evaluate } = compileLogic(
    { kind: decisive ? 'or' : 'and', operands: items, start, end },
    compilation,
  )
  return {
    evaluate: (values, host, scope) => {
      const value = evaluate(values, host, scope)
      return value instanceof ExpressionError ? value : truthOf(value, scope)
    },
    type: 'boolean',
  }
}

function overLoop<Host>(
  node: ComprehensionNode,
  decisive: boolean,
  compilation: Compilation<Host>,
): Evaluate<Host> {
  type State = LoopState & { decided: boolean }
  const loop = compileLoop<Host, State>(node.clauses, 'go-on', compilation, () => {
    const { evaluate } = compileTest(node.element, 'each element', compilation)
    return (values, host, scope, state) => {
      const value = evaluate(values, host, scope)
      if (value instanceof ExpressionError) {
        state.error ??= state.doubt ?? value
        return isExhausted(scope)
      }
      if (truthOf(value, scope) !== decisive) return false
      if (state.doubt === null) state.decided = true
      else state.error ??= state.doubt
      return state.decided
    }
  })
  return (values, host, scope): Outcome => {
    const state: State = { error: null, doubt: null, decided: false }
    loop(values, host, scope, state)
    if (state.decided) return decisive
    return state.error ?? !decisive
  }
}

function overList<Host>(
  node: SyntaxNode,
  name: string,
  decisive: boolean,
  compilation: Compilation<Host>,
): Evaluate<Host> {
  const list = compilation.compile(node)
  compilation.expect(list, node, ['list'], `\`${name}\` takes a list`)
  return (values, host, scope) => {
    const items = list.evaluate(values, host, scope)
    if (items instanceof ExpressionError) return items
    if (!isList(items)) {
      return new ExpressionError('wrong_type', `\`${name}\` takes a list, not a ${kindOf(items)}`, node)
    }
    if (!spend(scope, items.length)) return tooMuchWork(node)
    let error: ExpressionError | null = null
    for (const item of items) {
      if (compilation.isCondition && typeof item !== 'boolean') {
        error ??= new ExpressionError(
          'wrong_type',
          `each element must be true or false, not a ${kindOf(item)}`,
          node,
        )
      } else if (truthOf(item, scope) === decisive) return decisive
    }
    return error ?? !decisive
  }
}
