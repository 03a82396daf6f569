import { builtinFunctions } from './builtin-function.ts'
import type { Compilation, Compiled } from './compilation.ts'
import { compileDefault, compileHas } from './compile-absorber.ts'
import { compileBuiltin } from './compile-builtin.ts'
import { compileContextCall } from './compile-context-call.ts'
import { compileQuantifier } from './compile-quantifier.ts'
import { adviceFor, foreignFunctions } from './foreign-syntax.ts'
import type { CallNode } from './syntax-node.ts'

const specialForms = ['has', 'default', 'any', 'all']

/** Compiles a call of a function by its name. */
export function compileCall<Host>(node: CallNode, compilation: Compilation<Host>): Compiled<Host> {
  const context = compilation.functions.get(node.name)
  if (context !== undefined) return compileContextCall(node, context, compilation)
  if (node.name === 'any' || node.name === 'all') return compileQuantifier(node, compilation)
  if (node.name === 'has') return compileHas(node, compilation)
  if (node.name === 'default') return compileDefault(node, compilation)
  const builtin = builtinFunctions.get(node.name)
  if (builtin === undefined) return reportUnknown(node, compilation)
  return compileBuiltin(node.name, builtin, node, node, compilation)
}

function reportUnknown<Host>(node: CallNode, compilation: Compilation<Host>): Compiled<Host> {
  const advice = adviceFor(foreignFunctions, node.name)
  const known = [...compilation.functions.keys(), ...builtinFunctions.keys(), ...specialForms]
  const hint = advice === null ? compilation.suggest(node.name, known) : `; ${advice}`
  const range = { start: node.start, end: node.start + node.name.length }
  return compilation.report('unknown_function', `there is no function \`${node.name}\`${hint}`, range)
}
