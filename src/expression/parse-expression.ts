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
  operand: (cursor) => nested(cursor, parseOr),
}

function nested(cursor: TokenCursor, parse: (cursor: TokenCursor) => SyntaxNode): SyntaxNode {
  cursor.enter()
  const node = parse(cursor)
  cursor.leave()
  return node
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
  const advice = token.kind === 'name' ? adviceFor(foreignWords, token.text) : null
  if (advice !== null) cursor.refuse(advice)
  cursor.fail(`expected an operator or the end, found ${cursor.describe()}`)
}

function parseChoice(cursor: TokenCursor): SyntaxNode {
  cursor.enter()
  const start = cursor.token.start
  const first = parseOr(cursor)
  const node = cursor.isWord('if') ? choiceFrom(first, start, cursor) : first
  cursor.leave()
  return node
}

function choiceFrom(first: SyntaxNode, start: number, cursor: TokenCursor): SyntaxNode {
  const branches: { test: SyntaxNode; value: SyntaxNode }[] = []
  let value = first
  while (cursor.takeWord('if')) {
    const test = parseOr(cursor)
    cursor.expectWord('else', 'after the condition of `a if condition else b`')
    branches.push({ test, value })
    value = parseOr(cursor)
  }
  return { kind: 'choice', branches, otherwise: value, start, end: value.end }
}

function parseOr(cursor: TokenCursor): SyntaxNode {
  const first = parseAnd(cursor)
  return cursor.isWord('or') ? logicFrom(first, 'or', parseAnd, cursor) : first
}

function parseAnd(cursor: TokenCursor): SyntaxNode {
  const first = parseNot(cursor)
  return cursor.isWord('and') ? logicFrom(first, 'and', parseNot, cursor) : first
}

function logicFrom(
  first: SyntaxNode,
  word: 'and' | 'or',
  parse: (cursor: TokenCursor) => SyntaxNode,
  cursor: TokenCursor,
): SyntaxNode {
  const operands = [first]
  while (cursor.takeWord(word)) operands.push(parse(cursor))
  return { kind: word, operands, start: first.start, end: cursor.lastEnd }
}

function parseNot(cursor: TokenCursor): SyntaxNode {
  const start = cursor.token.start
  if (!cursor.takeWord('not')) return parseComparison(cursor)
  const operand = nested(cursor, parseNot)
  return { kind: 'not', operand, start, end: operand.end }
}

const comparisonSigns: readonly string[] = ['==', '!=', '<', '<=', '>', '>=']

function takeComparison(cursor: TokenCursor): ComparisonOperator | null {
  const { token } = cursor
  if (token.kind === 'sign' && comparisonSigns.includes(token.text)) {
    cursor.take()
    return token.text as ComparisonOperator
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
  let range = cursor.token
  let operator = takeComparison(cursor)
  if (operator === null) return first
  const rest: { operator: ComparisonOperator; operand: SyntaxNode }[] = []
  while (operator !== null) {
    if (rest.length > 0) {
      const odd = [rest[0]!.operator, operator].find((each) => each === '!=' || each.endsWith('in'))
      if (odd !== undefined) {
        cursor.refuse(`\`${odd}\` cannot be chained; write two comparisons joined by \`and\``, range)
      }
    }
    rest.push({ operator, operand: parseSum(cursor) })
    range = cursor.token
    operator = takeComparison(cursor)
  }
  return { kind: 'comparison', first, rest, start: first.start, end: cursor.lastEnd }
}

const sumSigns: readonly string[] = ['+', '-']
const productSigns: readonly string[] = ['*', '/', '//', '%']

function parseSum(cursor: TokenCursor): SyntaxNode {
  const first = parseProduct(cursor)
  return isOneOf(sumSigns, cursor) ? arithmeticFrom(first, sumSigns, parseProduct, cursor) : first
}

function parseProduct(cursor: TokenCursor): SyntaxNode {
  const first = parseSigned(cursor)
  return isOneOf(productSigns, cursor) ? arithmeticFrom(first, productSigns, parseSigned, cursor) : first
}

function isOneOf(signs: readonly string[], { token }: TokenCursor): boolean {
  return token.kind === 'sign' && signs.includes(token.text)
}

function arithmeticFrom(
  first: SyntaxNode,
  signs: readonly string[],
  parse: (cursor: TokenCursor) => SyntaxNode,
  cursor: TokenCursor,
): SyntaxNode {
  const rest = [operationIn(cursor, parse)]
  while (isOneOf(signs, cursor)) rest.push(operationIn(cursor, parse))
  return { kind: 'arithmetic', first, rest, start: first.start, end: cursor.lastEnd }
}

function operationIn(
  cursor: TokenCursor,
  parse: (cursor: TokenCursor) => SyntaxNode,
): { operator: ArithmeticOperator; operand: SyntaxNode } {
  const operator = cursor.take().text as ArithmeticOperator
  return { operator, operand: parse(cursor) }
}

function parseSigned(cursor: TokenCursor): SyntaxNode {
  const start = cursor.token.start
  if (cursor.isSign('+')) cursor.refuse('a leading `+` is not supported; remove it')
  if (!cursor.takeSign('-')) return parsePower(cursor)
  const operand = nested(cursor, parseSigned)
  return { kind: 'negate', operand, start, end: operand.end }
}

function parsePower(cursor: TokenCursor): SyntaxNode {
  const base = parseAccess(cursor, grammar)
  if (!cursor.takeSign('**')) return base
  const exponent = nested(cursor, parseSigned)
  return { kind: 'power', base, exponent, start: base.start, end: exponent.end }
}
