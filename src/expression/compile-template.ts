import { type CompiledExpression, type CompileOptions, compileSyntax } from './compile-expression.ts'
import type { ExpressionReference } from './compilation.ts'
import { ExpressionError } from './expression-error.ts'
import { parseTemplate } from './parse-template.ts'
import type { SyntaxNode, TextHole } from './syntax-node.ts'

/** A text with placeholders that has been checked, ready to be filled in any number of times. */
export interface CompiledTemplate<Host> extends Pick<CompiledExpression<Host>, 'evaluate'> {
  readonly source: string
  readonly references: readonly ExpressionReference[]
  /** What stands for itself, as text, and each placeholder, for those who must treat the two differently. */
  readonly parts: readonly (string | Pick<CompiledExpression<Host>, 'evaluate'>)[]
}

/** The compiled template, or every error that was found in it. */
export type CompileTemplateResult<Host> =
  | { readonly template: CompiledTemplate<Host>; readonly errors: readonly [] }
  | { readonly template: null; readonly errors: readonly ExpressionError[] }

/**
 * Checks and compiles a text with placeholders `{expression}`. A text that is one placeholder and nothing else has the value of
 * its expression, type and all; any other is text. Never throws for any source.
 */
export function compileTemplate<Host>(
  source: string,
  options: Omit<CompileOptions<Host>, 'profile'>,
): CompileTemplateResult<Host> {
  const node = parseTemplate(source)
  if (node instanceof ExpressionError) return { template: null, errors: [node] }
  const settings = { ...options, profile: 'template' as const }
  const [only] = node.parts
  const sole = node.parts.length === 1 && typeof only === 'object' ? treeOf(only) : node
  const whole = compileSyntax(sole, source, settings)
  if (whole.expression === null) return { template: null, errors: whole.errors }
  const { evaluate, references } = whole.expression
  const parts = node.parts.map((part) => {
    if (typeof part === 'string') return part
    // It was compiled with the whole already, so it has no errors.
    return compileSyntax(treeOf(part), source, settings).expression!
  })
  return { template: { source, references, parts, evaluate }, errors: [] }
}

/** A placeholder by itself: its value, or the text that its format makes of it. */
function treeOf(hole: TextHole): SyntaxNode {
  return hole.format === null ? hole.value : { kind: 'text', parts: [hole], start: hole.start, end: hole.end }
}
