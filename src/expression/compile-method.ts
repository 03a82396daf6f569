import { builtinMethods } from './builtin-method.ts'
import type { Compilation, Compiled } from './compilation.ts'
import { compileBuiltin } from './compile-builtin.ts'
import type { SourceRange } from './expression-error.ts'
import { adviceFor, foreignMethods } from './foreign-syntax.ts'
import type { AccessStep } from './syntax-node.ts'

/** Compiles a call of a listed method on the value before the dot; no other method can ever be called. */
export function compileMethod<Host>(
  target: Compiled<Host>,
  step: Extract<AccessStep, { kind: 'method' }>,
  range: SourceRange,
  compilation: Compilation<Host>,
): Compiled<Host> {
  const method = builtinMethods.get(step.name)
  if (method === undefined) {
    const advice = adviceFor(foreignMethods, step.name)
    const hint = advice === null ? compilation.suggest(step.name, [...builtinMethods.keys()]) : `; ${advice}`
    return compilation.report('unsupported_syntax', `there is no method \`${step.name}\`${hint}`, step)
  }
  const receiver = { name: 'x', types: [method.of] }
  return compileBuiltin(`.${step.name}`, method, step, range, compilation, {
    part: target,
    parameter: receiver,
  })
}
