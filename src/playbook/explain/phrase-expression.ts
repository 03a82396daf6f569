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

/** The first and the last number of `range(from, to + 1)`, as the parser writes `from 1 to 5` and `3 times`; null for anything else. */
export function phraseCounting(
  source: string,
  calls: readonly string[],
): { readonly from: string; readonly to: string } | null {
  const node = parseExpression(source)
  if (node instanceof ExpressionError || node.kind !== 'call' || node.name !== 'range') return null
  const [from, end, ...more] = node.positional
  if (from === undefined || end?.kind !== 'arithmetic' || more.length > 0) return null
  const { operator, operand } = end.rest.at(-1)!
  if (operator !== '+' || operand.kind !== 'literal' || operand.value !== 1) return null
  const last = source.slice(end.start, (end.rest.at(-2)?.operand ?? end.first).end)
  return { from: phrase(from, { source, calls }), to: phraseExpression(last, calls) }
}

/** A condition in words: one that is only a value is said to hold. */
export function phraseCondition(source: string, calls: readonly string[] = []): string {
  const node = parseExpression(source)
  if (node instanceof ExpressionError) return source.trim()
  return phraseTest(node, { source, calls })
}

/** What the condition denies, in words: `not $paid` denies "paid holds". Null for one that denies nothing. */
export function phraseDenied(source: string, calls: readonly string[] = []): string | null {
  const node = parseExpression(source)
  if (node instanceof ExpressionError || node.kind !== 'not') return null
  return phraseTest(node.operand, { source, calls })
}

function phraseTest(node: SyntaxNode, context: PhraseContext): string {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.operands.map((operand) => grouped(operand, context)).join(` ${node.kind} `)
    case 'not': {
      const set = askedToBeSet(node.operand)
      if (set !== null) return `${phrase(set, context)} is not set`
      return isValue(node.operand)
        ? `${bare(node.operand, context)} does not hold`
        : `not (${phraseTest(node.operand, context)})`
    }
    default: {
      const set = askedToBeSet(node)
      if (set !== null) return `${phrase(set, context)} is set`
      return isValue(node) ? `${bare(node, context)} holds` : phrase(node, context)
    }
  }
}

/** What `has(x)` asks about; null for anything else. */
function askedToBeSet(node: SyntaxNode): SyntaxNode | null {
  if (node.kind !== 'call' || node.name !== 'has' || node.positional.length !== 1) return null
  return node.positional[0]!
}

/** How the parser writes `is empty` and `Add … to …`: nobody should have to read that back. */
const everythingEmpty = '[null, "", [], {}]'
const asksForList = /^str\(\[.*\]\)\[:2\] == "\[\["$/s

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
      if (word.endsWith('in') && asWritten(only.operand, context) === everythingEmpty)
        return `${phrase(node.first, context)} is ${only.operator === 'in' ? '' : 'not '}empty`
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
      const absorbs = node.name === 'default' && node.positional.length === 2 && only !== undefined
      if (absorbs && more[0]!.kind === 'literal' && more[0].value === null) return phrase(only, context)
      return asWritten(node, context)
    }
    case 'choice': {
      const [branch, ...more] = node.branches
      if (branch === undefined || more.length > 0) return asWritten(node, context)
      const { test, value } = branch
      if (asksForList.test(asWritten(test, context)))
        return `${phrase(node.otherwise, context)}, or with it as a further item where that is a list`
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
