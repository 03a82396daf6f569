import type { Compilation, Compiled, Evaluate, Outcome } from './compilation.ts'
import { ExpressionError } from './expression-error.ts'
import { expressionLimit, spendText, tooMuchWork, type EvaluationScope } from './expression-limit.ts'
import { kindOf, type ExpressionValue } from './expression-value.ts'
import { formatValue, isNumberFormat, parseFormat, type TextFormat } from './format-value.ts'
import type { TextHole, TextNode } from './syntax-node.ts'
import { writeText } from './write-text.ts'

interface Hole<Host> {
  readonly evaluate: Evaluate<Host>
  readonly format: TextFormat | null
  readonly node: TextHole
}

/** Compiles an f-string. */
export function compileText<Host>(node: TextNode, compilation: Compilation<Host>): Compiled<Host> {
  if (compilation.isCondition) {
    return compilation.report(
      'not_in_condition',
      'a condition builds no strings, so it has no f-strings',
      node,
    )
  }
  const parts = node.parts.map((part) => (typeof part === 'string' ? part : compileHole(part, compilation)))
  return {
    evaluate: (values, host, scope): Outcome => {
      let text = ''
      for (const part of parts) {
        const value = typeof part === 'string' ? part : part.evaluate(values, host, scope)
        if (value instanceof ExpressionError) return value
        const piece = typeof part === 'string' ? part : print(value, part, scope)
        if (piece instanceof ExpressionError) return piece
        if (!spendText(scope, piece.length)) return tooMuchWork(node)
        text += piece
        if (text.length > expressionLimit.textLength) {
          return new ExpressionError('expression_limit', 'the string becomes too long', node)
        }
      }
      return text
    },
    type: 'string',
  }
}

function compileHole<Host>(node: TextHole, compilation: Compilation<Host>): Hole<Host> {
  const { evaluate, type } = compilation.compile(node.value)
  const format = node.format === null ? null : parseFormat(node.format)
  if (node.format !== null && format === null) {
    const message = `\`${node.format}\` is not a format; write such as .2f or , or .0% or >10`
    compilation.report('unsupported_syntax', message, node)
  }
  if (format !== null && isNumberFormat(format)) {
    compilation.expect(
      { evaluate, type },
      node.value,
      ['number'],
      `the format \`${node.format}\` is for numbers`,
    )
  }
  return { evaluate, format, node }
}

function print<Host>(
  value: ExpressionValue,
  hole: Hole<Host>,
  scope: EvaluationScope,
): string | ExpressionError {
  const { format, node } = hole
  const text = writeText(value, scope)
  if (text === null) return new ExpressionError('expression_limit', 'the string becomes too long', node)
  if (format === null) return text
  if (isNumberFormat(format) && typeof value !== 'number') {
    const message = `the format \`${node.format}\` is for numbers, not for a ${kindOf(value)}`
    return new ExpressionError('wrong_type', message, node)
  }
  return formatValue(value, text, format)
}
