import { compileExpression } from '../expression/compile-expression.ts'
import { compileTemplate } from '../expression/compile-template.ts'
import { ExpressionError } from '../expression/expression-error.ts'
import type { ExpressionValue } from '../expression/expression-value.ts'
import type { Json } from '../shared/json.ts'
import { invariant } from '../shared/lockstep-error.ts'

/** What a name stands for; undefined where nothing is known under it. */
export type Lookup = (name: string) => Json | undefined

/** An expression or a template of a program, ready to be worked out any number of times. */
export interface CompiledValue {
  /** The names it reads, each once. */
  readonly reads: readonly string[]
  /** The value, or why there is none. Never throws. */
  evaluate(lookup: Lookup): Json | ExpressionError
}

const identifier = /[A-Za-z_][A-Za-z0-9_]*/g
const comprehension = /\bfor\s+\$?([A-Za-z_][A-Za-z0-9_]*(?:\s*,\s*\$?[A-Za-z_][A-Za-z0-9_]*)*)\s+in\b/g

/** Compiles a value of a program, or says what is wrong with it. Any name is legal here: whether it is set, the run finds out. */
export function compileValue(
  source: string,
  form: 'expression' | 'template',
): CompiledValue | ExpressionError {
  const all = [...new Set(source.match(identifier) ?? [])]
  const bound = new Set([...source.matchAll(comprehension)].flatMap(([, names]) => names!.match(identifier)!))
  // The variables of a comprehension are its own; where the same words stand in a text, they may be names all the same.
  const free = all.filter((name) => !bound.has(name))
  const first = compileWith(source, form, free)
  const compiled = first instanceof ExpressionError && bound.size > 0 ? compileWith(source, form, all) : first
  return compiled instanceof ExpressionError ? first : compiled
}

function compileWith(
  source: string,
  form: 'expression' | 'template',
  names: readonly string[],
): CompiledValue | ExpressionError {
  const options = { names, sigil: true } as const
  const result =
    form === 'template'
      ? compileTemplate<null>(source, options)
      : compileExpression<null>(source, { ...options, profile: 'template' })
  if (result.errors.length > 0) return result.errors[0]!
  const compiled = 'template' in result ? result.template! : result.expression!
  const reads = [...new Set(compiled.references.map(({ name }) => name))]
  return {
    reads,
    evaluate: (lookup) => {
      const values = options.names.map((name) => lookup(name) as ExpressionValue | undefined)
      return compiled.evaluate(values, null) as Json | ExpressionError
    },
  }
}

/** Compiles what decides a branch: the same, and then whether the value counts as true. */
export function compileTruth(source: string): CompiledValue | ExpressionError {
  return compileValue(`true if (${source}\n) else false`, 'expression')
}

/** The compiled form of what was checked when the program was read. */
export function checkedValue(result: CompiledValue | ExpressionError): CompiledValue {
  invariant(!(result instanceof ExpressionError), `unchecked value: ${(result as ExpressionError).message}`)
  return result
}
