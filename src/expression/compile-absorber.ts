import type { Compilation, Compiled } from './compilation.ts'
import { ExpressionError } from './expression-error.ts'
import type { CallNode } from './syntax-node.ts'

/** Compiles `has(x)`: whether there is such a value; any other error than a missing value stays an error. */
export function compileHas<Host>(node: CallNode, compilation: Compilation<Host>): Compiled<Host> {
  compilation.refuseKeywords(node.keywords, 'has')
  const [argument, ...others] = node.positional
  const isPath = argument?.kind === 'access' || argument?.kind === 'name' || argument?.kind === 'call'
  if (!isPath || others.length > 0) {
    return compilation.report(
      'wrong_arguments',
      '`has` takes one value that is looked up, such as has(a.b)',
      node,
    )
  }
  const { evaluate } = compilation.compile(argument)
  return {
    evaluate: (values, host, scope) => {
      const value = evaluate(values, host, scope)
      if (!(value instanceof ExpressionError)) return true
      return value.code === 'missing_value' ? false : value
    },
    type: 'boolean',
  }
}

/** Compiles `default(x, y)`: y where x is missing; any other error stays an error. */
export function compileDefault<Host>(node: CallNode, compilation: Compilation<Host>): Compiled<Host> {
  compilation.refuseKeywords(node.keywords, 'default')
  const [first, second, ...others] = node.positional
  if (first === undefined || second === undefined || others.length > 0) {
    return compilation.report('wrong_arguments', '`default` is called as default(x, y)', node)
  }
  const value = compilation.compile(first)
  const otherwise = compilation.compile(second)
  return {
    evaluate: (values, host, scope) => {
      const found = value.evaluate(values, host, scope)
      const isMissing = found instanceof ExpressionError && found.code === 'missing_value'
      return isMissing ? otherwise.evaluate(values, host, scope) : found
    },
    type: value.type === otherwise.type ? value.type : 'any',
  }
}
