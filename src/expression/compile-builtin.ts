import type { Builtin, CallSite, Parameter } from './builtin.ts'
import type { Compilation, Compiled, Evaluate, Outcome } from './compilation.ts'
import { compileComprehension } from './compile-comprehension.ts'
import { ExpressionError, type SourceRange } from './expression-error.ts'
import { kindOf, type ExpressionValue } from './expression-value.ts'
import type { KeywordArgument, SyntaxNode } from './syntax-node.ts'

/** The arguments of a call as written. */
export interface GivenArguments {
  readonly positional: readonly SyntaxNode[]
  readonly keywords: readonly KeywordArgument[]
}

/** Compiles a call of a listed function or method: counts and types of arguments are checked here, once. */
export function compileBuiltin<Host>(
  name: string,
  builtin: Builtin,
  given: GivenArguments,
  range: SourceRange,
  compilation: Compilation<Host>,
  receiver: { readonly part: Compiled<Host>; readonly parameter: Parameter } | null = null,
): Compiled<Host> {
  if (compilation.isCondition && !builtin.condition) {
    return compilation.report('not_in_condition', `a condition cannot use \`${name}\``, range)
  }
  const parts = matchArguments(name, builtin, given, range, compilation)
  if (parts === null) return compilation.report('wrong_arguments', usageOf(name, builtin), range)
  if (builtin.returns === 'list') compilation.builds = true
  if (receiver !== null) {
    compilation.expect(receiver.part, range, receiver.parameter.types, needOf(name, receiver.parameter))
    parts.unshift({ parameter: receiver.parameter, evaluate: receiver.part.evaluate, range })
  }
  return { evaluate: callWith(name, builtin, parts, range), type: builtin.returns }
}

interface Part<Host> {
  readonly parameter: Parameter
  readonly evaluate: Evaluate<Host>
  readonly range: SourceRange
}

function matchArguments<Host>(
  name: string,
  builtin: Builtin,
  given: GivenArguments,
  range: SourceRange,
  compilation: Compilation<Host>,
): (Part<Host> | null)[] | null {
  const { parameters } = builtin
  const places = parameters.filter((parameter) => parameter.named !== true)
  if (given.positional.length > places.length && builtin.variadic !== true) return null
  const nodes: (SyntaxNode | null)[] = [...given.positional]
  for (let i = nodes.length; i < parameters.length; i++) nodes.push(null)
  for (const keyword of given.keywords) {
    const place = parameters.findIndex(
      (parameter) => parameter.named === true && parameter.name === keyword.name,
    )
    if (place < 0) return null
    nodes[place] = keyword.value
  }
  const isIncomplete = parameters.some((parameter, i) => nodes[i] === null && parameter.optional !== true)
  if (isIncomplete) return null
  return nodes.map((node, i) => {
    if (node === null) return null
    const parameter = parameters[Math.min(i, parameters.length - 1)]!
    const part = compileArgument(name, builtin, node, given, compilation)
    compilation.expect(
      part,
      node,
      [...parameter.types, ...(parameter.types.includes('any') ? [part.type] : [])],
      needOf(name, parameter),
    )
    return { parameter, evaluate: part.evaluate, range: node.start === node.end ? range : node }
  })
}

function compileArgument<Host>(
  name: string,
  builtin: Builtin,
  node: SyntaxNode,
  given: GivenArguments,
  compilation: Compilation<Host>,
): Compiled<Host> {
  if (node.kind !== 'comprehension' || node.form !== 'generator') return compilation.compile(node)
  if (builtin.generator === true && given.positional.length === 1)
    return compileComprehension(node, compilation)
  return compilation.report(
    'wrong_arguments',
    `\`${name}\` takes a list here: write [… for x in items]`,
    node,
  )
}

function needOf(name: string, parameter: Parameter): string {
  return `\`${name}\` takes ${parameter.types.map((type) => `a ${type}`).join(' or ')}`
}

function usageOf(name: string, builtin: Builtin): string {
  const names = builtin.parameters.map((parameter) => {
    const shown = parameter.named === true ? `${parameter.name}=…` : parameter.name
    return parameter.optional === true ? `[${shown}]` : shown
  })
  if (builtin.variadic === true) names.push('…')
  return `\`${name}\` is called as ${name}(${names.join(', ')})`
}

function callWith<Host>(
  name: string,
  builtin: Builtin,
  parts: readonly (Part<Host> | null)[],
  range: SourceRange,
): Evaluate<Host> {
  const { run } = builtin
  return (values, host, scope): Outcome => {
    const given: (ExpressionValue | undefined)[] = []
    for (const part of parts) {
      const value = part?.evaluate(values, host, scope)
      if (value instanceof ExpressionError) return value
      if (part !== null && !accepts(part.parameter, value!)) {
        const message = `${needOf(name, part.parameter)}, not a ${kindOf(value!)}`
        return new ExpressionError('wrong_type', message, part.range)
      }
      given.push(value)
    }
    const site: CallSite = { scope, fail: (code, message) => new ExpressionError(code, message, range) }
    return run(given, site)
  }
}

function accepts(parameter: Parameter, value: ExpressionValue): boolean {
  const { types } = parameter
  return types[0] === 'any' || types.includes(kindOf(value) as Parameter['types'][number])
}
