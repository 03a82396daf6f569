import type { Compilation, Compiled, Evaluate, Outcome, Slots } from './compilation.ts'
import { compileTest } from './compile-logic.ts'
import { ExpressionError, type SourceRange } from './expression-error.ts'
import { expressionLimit, isExhausted, spend, tooMuchWork, type EvaluationScope } from './expression-limit.ts'
import { emptyDict, isList, kindOf, type ExpressionValue } from './expression-value.ts'
import type { ComprehensionNode, ForClause } from './syntax-node.ts'
import { truthOf } from './truth-of.ts'

/** Runs the rest of a comprehension for the current variables; true means stop. */
type Visit<Host, State> = (values: Slots, host: Host, scope: EvaluationScope, state: State) => boolean

/** What a loop tells its user: a value that failed, and the error of a filter that leaves an element in doubt. */
export interface LoopState {
  error: ExpressionError | null
  doubt: ExpressionError | null
}

/** How a loop treats an error in a source or a filter: stop at once, or go on because another element may decide. */
export type ErrorPolicy = 'stop' | 'go-on'

/** Compiles the clauses of a comprehension around what is done for each element. */
export function compileLoop<Host, State extends LoopState>(
  clauses: readonly ForClause[],
  policy: ErrorPolicy,
  compilation: Compilation<Host>,
  compileBody: () => Visit<Host, State>,
): Visit<Host, State> {
  const [clause, ...rest] = clauses
  if (clause === undefined) return compileBody()
  const source = compilation.compile(clause.source)
  compilation.expect(source, clause.source, ['list'], 'a loop runs over a list')
  const places = compilation.bind(clause.targets)
  const before = compilation.parts
  const tests = clause.tests.map((test) => compileTest(test, 'a filter', compilation).evaluate)
  const inner = compileLoop(rest, policy, compilation, compileBody)
  const cost = 1 + compilation.parts - before
  compilation.unbind(clause.targets)
  return runLoop({ source: source.evaluate, places, tests, inner, cost, policy, clause })
}

interface Loop<Host, State> {
  readonly source: Evaluate<Host>
  readonly places: readonly number[]
  readonly tests: readonly Evaluate<Host>[]
  readonly inner: Visit<Host, State>
  readonly cost: number
  readonly policy: ErrorPolicy
  readonly clause: ForClause
}

function runLoop<Host, State extends LoopState>(loop: Loop<Host, State>): Visit<Host, State> {
  const { source, places, tests, inner, cost, policy, clause } = loop
  const fail = (state: State, error: ExpressionError, scope: EvaluationScope) => {
    state.error ??= error
    return policy === 'stop' || isExhausted(scope)
  }
  return (values, host, scope, state) => {
    const items = source(values, host, scope)
    if (items instanceof ExpressionError) return fail(state, items, scope)
    if (!isList(items)) return fail(state, notList(items, clause.source), scope)
    const outerDoubt = state.doubt
    for (const item of items) {
      if (!spend(scope, cost)) {
        state.error = tooMuchWork(clause)
        return true
      }
      const problem = assign(item, places, scope, clause)
      if (problem !== null) {
        if (fail(state, problem, scope)) return true
        continue
      }
      state.doubt = outerDoubt
      const passed = filter(tests, values, host, scope)
      if (passed === false) continue
      if (passed instanceof ExpressionError) {
        if (policy === 'stop' || isExhausted(scope)) return fail(state, passed, scope)
        state.doubt ??= passed
      }
      if (inner(values, host, scope, state)) return true
    }
    state.doubt = outerDoubt
    return false
  }
}

function filter<Host>(
  tests: readonly Evaluate<Host>[],
  values: Slots,
  host: Host,
  scope: EvaluationScope,
): boolean | ExpressionError {
  let error: ExpressionError | null = null
  for (const test of tests) {
    const value = test(values, host, scope)
    if (value instanceof ExpressionError) error ??= value
    else if (!truthOf(value, scope)) return false
  }
  return error ?? true
}

function assign(
  item: ExpressionValue,
  places: readonly number[],
  scope: EvaluationScope,
  clause: ForClause,
): ExpressionError | null {
  if (places.length === 1) {
    scope.locals[places[0]!] = item
    return null
  }
  if (!isList(item) || item.length !== places.length) {
    const found = isList(item) ? `a list of ${item.length}` : `a ${kindOf(item)}`
    return new ExpressionError(
      'wrong_type',
      `each element must be a list of ${places.length}, not ${found}`,
      clause,
    )
  }
  places.forEach((place, i) => {
    scope.locals[place] = item[i]
  })
  return null
}

function notList(value: ExpressionValue, range: SourceRange): ExpressionError {
  const kind = kindOf(value)
  const hint =
    kind === 'dict'
      ? '; write .keys(), .values() or .items()'
      : kind === 'string'
        ? '; write list(x) for its characters'
        : ''
  return new ExpressionError('wrong_type', `a loop runs over a list, not a ${kind}${hint}`, range)
}

/** Compiles a list or dict comprehension, and a generator where a list is wanted. */
export function compileComprehension<Host>(
  node: ComprehensionNode,
  compilation: Compilation<Host>,
): Compiled<Host> {
  if (compilation.isCondition) {
    return compilation.report(
      'not_in_condition',
      'in a condition a comprehension stands only inside any(…) or all(…), without brackets of its own',
      node,
    )
  }
  compilation.builds = true
  return node.form === 'dict' ? compileDict(node, compilation) : compileList(node, compilation)
}

function compileList<Host>(node: ComprehensionNode, compilation: Compilation<Host>): Compiled<Host> {
  type State = LoopState & { items: ExpressionValue[] }
  const loop = compileLoop<Host, State>(node.clauses, 'stop', compilation, () => {
    const { evaluate } = compilation.compile(node.element)
    return (values, host, scope, state) => {
      const value = evaluate(values, host, scope)
      if (value instanceof ExpressionError) state.error = value
      else if (state.items.length >= expressionLimit.listLength) state.error = tooLong('list', node)
      else state.items.push(value)
      return state.error !== null
    }
  })
  return {
    evaluate: (values, host, scope): Outcome => {
      const state: State = { error: null, doubt: null, items: [] }
      loop(values, host, scope, state)
      return state.error ?? state.items
    },
    type: 'list',
  }
}

function compileDict<Host>(node: ComprehensionNode, compilation: Compilation<Host>): Compiled<Host> {
  type State = LoopState & { dict: { [key: string]: ExpressionValue }; size: number }
  const loop = compileLoop<Host, State>(node.clauses, 'stop', compilation, () => {
    const key = compilation.compile(node.key!)
    compilation.expect(key, node.key!, ['string'], 'the key of a dict is a string')
    const element = compilation.compile(node.element)
    return (values, host, scope, state) => {
      const name = key.evaluate(values, host, scope)
      const value = name instanceof ExpressionError ? name : element.evaluate(values, host, scope)
      if (value instanceof ExpressionError) state.error = value
      else if (typeof name !== 'string') state.error = keyError(name as ExpressionValue, node.key!)
      else {
        if (!Object.hasOwn(state.dict, name)) state.size++
        if (state.size > expressionLimit.listLength) state.error = tooLong('dict', node)
        else state.dict[name] = value
      }
      return state.error !== null
    }
  })
  return {
    evaluate: (values, host, scope): Outcome => {
      const state: State = { error: null, doubt: null, dict: emptyDict(), size: 0 }
      loop(values, host, scope, state)
      return state.error ?? state.dict
    },
    type: 'dict',
  }
}

/** The error of a dict key that is not a string. */
export function keyError(key: ExpressionValue, range: SourceRange): ExpressionError {
  return new ExpressionError('wrong_type', `the key of a dict is a string, not a ${kindOf(key)}`, range)
}

function tooLong(what: string, range: SourceRange): ExpressionError {
  return new ExpressionError('expression_limit', `the ${what} becomes too long`, range)
}
