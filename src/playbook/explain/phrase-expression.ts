import { ExpressionError } from '../../expression/expression-error.ts'
import { parseExpression } from '../../expression/parse-expression.ts'
import type { AccessNode, ComparisonOperator, SyntaxNode } from '../../expression/syntax-node.ts'
import { phraseName, phraseVariable } from './phrase-name.ts'

/** How an expression is read: each `call_1`, `call_2` is the phrase of a call. */
export interface PhraseContext {
  readonly source: string
  readonly calls: readonly string[]
}

const comparisons: Readonly<Record<ComparisonOperator, string>> = {
  '==': 'is',
  '!=': 'is not',
  '<': 'is under',
  '<=': 'is at most',
  '>': 'is over',
  '>=': 'is at least',
  in: 'is in',
  'not in': 'is not in',
}

const operations = { '+': 'plus', '-': 'minus', '*': 'times', '/': 'divided by' } as const

/** A value in words. What has no plain words stays as written. */
export function phraseExpression(source: string, calls: readonly string[] = []): string {
  const node = parseExpression(source)
  return node instanceof ExpressionError ? source.trim() : phrase(node, { source, calls })
}

/** A condition in words: one that is only a value is said to hold. */
export function phraseCondition(source: string, calls: readonly string[] = []): string {
  const node = parseExpression(source)
  if (node instanceof ExpressionError) return source.trim()
  return phraseTest(node, { source, calls })
}

function phraseTest(node: SyntaxNode, context: PhraseContext): string {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.operands.map((operand) => grouped(operand, context)).join(` ${node.kind} `)
    case 'not':
      return isValue(node.operand)
        ? `${bare(node.operand, context)} does not hold`
        : `not (${phraseTest(node.operand, context)})`
    default:
      return isValue(node) ? `${bare(node, context)} holds` : phrase(node, context)
  }
}

/** Whether a condition is a bare value, which holds if it is true or something. */
function isValue(node: SyntaxNode): boolean {
  return node.kind === 'name' || node.kind === 'access' || node.kind === 'call'
}

/** A value that is said to hold has no article: "paid holds". */
function bare(node: SyntaxNode, context: PhraseContext): string {
  return node.kind === 'name' ? phrase(node, context).replace(/^the /, '') : phrase(node, context)
}

/** Inside `and` and `or`, what holds another of them stands in brackets. */
function grouped(node: SyntaxNode, context: PhraseContext): string {
  const inner = phraseTest(node, context)
  return node.kind === 'and' || node.kind === 'or' ? `(${inner})` : inner
}

function phrase(node: SyntaxNode, context: PhraseContext): string {
  switch (node.kind) {
    case 'literal':
      return node.value === null ? 'nothing' : asWritten(node, context)
    case 'name':
      return callPhrase(node.name, context) ?? phraseVariable(node.name)
    case 'access':
      return phraseAccess(node, context)
    case 'comparison': {
      const [only, ...more] = node.rest
      if (only === undefined || more.length > 0) return asWritten(node, context)
      const word = comparisons[only.operator]
      const empty = only.operand.kind === 'literal' && only.operand.value === ''
      const other = empty ? 'empty' : phrase(only.operand, context)
      return `${phrase(node.first, context)} ${word} ${other}`
    }
    case 'arithmetic': {
      if (node.rest.some(({ operator }) => !Object.hasOwn(operations, operator)))
        return asWritten(node, context)
      const rest = node.rest.map(
        ({ operator, operand }) =>
          `${operations[operator as keyof typeof operations]} ${operandOf(operand, context)}`,
      )
      return [operandOf(node.first, context), ...rest].join(' ')
    }
    case 'call': {
      const [only, ...more] = node.positional
      if (node.name === 'len' && only !== undefined && more.length === 0)
        return `the number of ${phrase(only, context).replace(/^the /, '')}`
      return asWritten(node, context)
    }
    case 'choice': {
      const [branch, ...more] = node.branches
      if (branch === undefined || more.length > 0) return asWritten(node, context)
      const { test, value } = branch
      return `${phrase(value, context)} if ${phraseTest(test, context)}, else ${phrase(node.otherwise, context)}`
    }
    case 'and':
    case 'or':
    case 'not':
      return phraseTest(node, context)
    default:
      return asWritten(node, context)
  }
}

function operandOf(node: SyntaxNode, context: PhraseContext): string {
  const inner = phrase(node, context)
  return node.kind === 'arithmetic' || node.kind === 'choice' ? `(${inner})` : inner
}

/** `$order.total` is "the order's total". */
function phraseAccess(node: AccessNode, context: PhraseContext): string {
  const names = node.steps.map((step) => {
    if (step.kind === 'member') return step.name
    const key = step.kind === 'index' && step.index.kind === 'literal' ? step.index.value : null
    return typeof key === 'string' ? key : null
  })
  if (node.base.kind !== 'name' || names.includes(null)) return asWritten(node, context)
  const base = callPhrase(node.base.name, context)
  if (base !== null) return `${names.map((name) => `the ${phraseName(name!)}`).join(' of ')} of ${base}`
  return [phraseVariable(node.base.name), ...names.map((name) => phraseName(name!))].join("'s ")
}

function callPhrase(name: string, { calls }: PhraseContext): string | null {
  const number = /^call_([1-9]\d*)$/.exec(name)?.[1]
  return number === undefined ? null : (calls[Number(number) - 1] ?? null)
}

function asWritten(node: SyntaxNode, context: PhraseContext): string {
  return context.source
    .slice(node.start, node.end)
    .replace(/\bcall_[1-9]\d*\b/g, (name) => callPhrase(name, context) ?? name)
}
