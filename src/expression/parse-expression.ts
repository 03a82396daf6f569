import { ExpressionError } from './expression-error.ts'
import { expressionLimit } from './expression-limit.ts'
import { adviceFor, foreignWords } from './foreign-syntax.ts'
import type { Grammar } from './grammar.ts'
import { parseAccess } from './parse-access.ts'
import { SyntaxFailure } from './syntax-failure.ts'
import type { ArithmeticOperator, ComparisonOperator, SyntaxNode } from './syntax-node.ts'
import { TokenCursor } from './token-cursor.ts'

/** Parses the source into a tree, or says where and why it is not an expression; never throws. */
export function parseExpression(source: string): SyntaxNode | ExpressionError {
  if (source.length > expressionLimit.sourceLength) {
    return new ExpressionError(
      'expression_limit',
      `the expression has ${source.length} characters; at most ${expressionLimit.sourceLength} are allowed`,
      { start: expressionLimit.sourceLength, end: source.length },
    )
  }
  try {
    const cursor = new TokenCursor(source)
    if (cursor.token.kind === 'end') cursor.fail('the expression is empty')
    const node = parseChoice(cursor)
    if (cursor.token.kind !== 'end') failAtRest(cursor)
    return node
  } catch (failure) {
    if (failure instanceof SyntaxFailure) return failure.error
    throw failure
  }
}

/** How a part of an expression is read by those who read what stands around it. */
export const grammar: Grammar = {
  expression: parseChoice,
  operand: (cursor) => cursor.nested(() => parseOr(cursor)),
}

function failAtRest(cursor: TokenCursor): never {
  const { token } = cursor
  if (cursor.isSign('=')) cursor.refuse('an expression assigns nothing; write `==` to compare')
  if (cursor.isSign(',')) cursor.refuse('there are no tuples; write a list `[a, b]`')
  if (cursor.isWord('for')) cursor.refuse('a comprehension needs brackets: write `[x for x in items]`')
  if (token.kind === 'string' || token.kind === 'text-start') {
    cursor.refuse('strings standing side by side are not joined; write `+` between them')
  }
  if (cursor.isSign(':')) cursor.fail('`:` can only stand in a dict `{"key": value}` or a slice `x[1:3]`')
  const advice = token.kind === 'name' ? adviceFor(foreignWords, token.name) : null
  if (advice !== null) cursor.refuse(advice)
  cursor.fail(`expected an operator or the end, found ${cursor.describe()}`)
}

function parseChoice(cursor: TokenCursor): SyntaxNode {
  return cursor.nested(() => {
    const start = cursor.token.start
    const branches: { test: SyntaxNode; value: SyntaxNode }[] = []
    let value = parseOr(cursor)
    while (cursor.takeWord('if')) {
      const test = parseOr(cursor)
      cursor.expectWord('else', 'after the condition of `a if condition else b`')
      branches.push({ test, value })
      value = parseOr(cursor)
    }
    if (branches.length === 0) return value
    return { kind: 'choice', branches, otherwise: value, start, end: value.end }
  })
}

function parseOr(cursor: TokenCursor): SyntaxNode {
  return parseLogic(cursor, 'or', parseAnd)
}

function parseAnd(cursor: TokenCursor): SyntaxNode {
  return parseLogic(cursor, 'and', parseNot)
}

function parseLogic(
  cursor: TokenCursor,
  word: 'and' | 'or',
  parse: (cursor: TokenCursor) => SyntaxNode,
): SyntaxNode {
  const first = parse(cursor)
  if (!cursor.isWord(word)) return first
  const operands = [first]
  while (cursor.takeWord(word)) operands.push(parse(cursor))
  return { kind: word, operands, start: first.start, end: cursor.lastEnd }
}

function parseNot(cursor: TokenCursor): SyntaxNode {
  const start = cursor.token.start
  if (!cursor.takeWord('not')) return parseComparison(cursor)
  const operand = cursor.nested(() => parseNot(cursor))
  return { kind: 'not', operand, start, end: operand.end }
}

const comparisonSigns: readonly string[] = ['==', '!=', '<', '<=', '>', '>=']

function takeComparison(cursor: TokenCursor): ComparisonOperator | null {
  const { token } = cursor
  if (token.kind === 'sign' && comparisonSigns.includes(token.sign)) {
    cursor.take()
    return token.sign as ComparisonOperator
  }
  if (cursor.takeWord('in')) return 'in'
  if (cursor.isWord('is')) cursor.refuse('write `==` instead of `is`')
  if (!cursor.takeWord('not')) return null
  cursor.expectWord('in', 'after `not`')
  return 'not in'
}

function parseComparison(cursor: TokenCursor): SyntaxNode {
  const first = parseSum(cursor)
  if (cursor.token.kind === 'end') return first
  const rest: { operator: ComparisonOperator; operand: SyntaxNode }[] = []
  for (;;) {
    const range = cursor.token
    const operator = takeComparison(cursor)
    if (operator === null) break
    if (rest.length > 0) {
      const odd = [rest[0]!.operator, operator].find((each) => each === '!=' || each.endsWith('in'))
      if (odd !== undefined) {
        cursor.refuse(`\`${odd}\` cannot be chained; write two comparisons joined by \`and\``, range)
      }
    }
    rest.push({ operator, operand: parseSum(cursor) })
  }
  if (rest.length === 0) return first
  return { kind: 'comparison', first, rest, start: first.start, end: cursor.lastEnd }
}

const sumSigns: readonly string[] = ['+', '-']
const productSigns: readonly string[] = ['*', '/', '//', '%']

function parseSum(cursor: TokenCursor): SyntaxNode {
  return parseArithmetic(cursor, sumSigns, parseProduct)
}

function parseProduct(cursor: TokenCursor): SyntaxNode {
  return parseArithmetic(cursor, productSigns, parseSigned)
}

function parseArithmetic(
  cursor: TokenCursor,
  signs: readonly string[],
  parse: (cursor: TokenCursor) => SyntaxNode,
): SyntaxNode {
  const first = parse(cursor)
  if (cursor.token.kind !== 'sign') return first
  const rest: { operator: ArithmeticOperator; operand: SyntaxNode }[] = []
  while (cursor.token.kind === 'sign' && signs.includes(cursor.token.sign)) {
    const operator = cursor.token.sign as ArithmeticOperator
    cursor.take()
    rest.push({ operator, operand: parse(cursor) })
  }
  if (rest.length === 0) return first
  return { kind: 'arithmetic', first, rest, start: first.start, end: cursor.lastEnd }
}

function parseSigned(cursor: TokenCursor): SyntaxNode {
  const start = cursor.token.start
  if (cursor.isSign('+')) cursor.refuse('a leading `+` is not supported; remove it')
  if (!cursor.takeSign('-')) return parsePower(cursor)
  const operand = cursor.nested(() => parseSigned(cursor))
  return { kind: 'negate', operand, start, end: operand.end }
}

function parsePower(cursor: TokenCursor): SyntaxNode {
  const base = parseAccess(cursor, grammar)
  if (!cursor.takeSign('**')) return base
  const exponent = cursor.nested(() => parseSigned(cursor))
  return { kind: 'power', base, exponent, start: base.start, end: exponent.end }
}
