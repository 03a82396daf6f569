import type { Compilation, Compiled } from './compilation.ts'
import type { ContextFunction } from './context-function.ts'
import { ExpressionError } from './expression-error.ts'
import type { ExpressionValue } from './expression-value.ts'
import type { CallNode } from './syntax-node.ts'

const none: readonly ExpressionValue[] = Object.freeze([])

/** Compiles a call of a function that the embedder added. */
export function compileContextCall<Host>(
  node: CallNode,
  context: ContextFunction<Host>,
  compilation: Compilation<Host>,
): Compiled<Host> {
  const { name } = node
  const [first, ...others] = node.positional
  const literal = first?.kind === 'literal' && typeof first.value === 'string' ? first.value : null
  if (context.literal ? literal === null || others.length > 0 : first !== undefined) {
    const usage = context.literal ? 'one positional argument, a string literal' : 'no positional argument'
    return compilation.report('wrong_arguments', `\`${name}\` takes ${usage}`, first ?? node)
  }
  if (!context.keywords) compilation.refuseKeywords(node.keywords, name)
  const keywords = node.keywords.map((keyword) => keyword.name)
  compilation.calls.push({ name, literal, keywords, start: node.start, end: node.end })
  const call = context.bind(literal, keywords)
  const missing = new ExpressionError('missing_value', `${compilation.quote(node)} has no value`, node)
  const evaluators = node.keywords.map((keyword) => compilation.compile(keyword.value).evaluate)
  if (evaluators.length === 0) {
    return {
      evaluate: (_values, host) => {
        const result = call(host, none)
        return result === undefined ? missing : result
      },
      type: context.returns,
    }
  }
  return {
    evaluate: (values, host, scope) => {
      const given: ExpressionValue[] = []
      for (const evaluate of evaluators) {
        const value = evaluate(values, host, scope)
        if (value instanceof ExpressionError) return value
        given.push(value)
      }
      const result = call(host, given)
      return result === undefined ? missing : result
    },
    type: context.returns,
  }
}
