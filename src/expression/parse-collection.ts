import { expressionLimit } from './expression-limit.ts'
import { adviceFor, foreignWords, reservedWords } from './foreign-syntax.ts'
import type { Grammar } from './grammar.ts'
import { SyntaxFailure } from './syntax-failure.ts'
import type { DictNode, ForClause, NameNode, SyntaxNode } from './syntax-node.ts'
import type { TokenCursor } from './token-cursor.ts'

/** Parses items up to the closing sign, with commas between and at most one after them. */
export function parseItems(cursor: TokenCursor, close: string, purpose: string, parse: () => void): void {
  while (!cursor.isSign(close)) {
    parse()
    if (!cursor.takeSign(',')) break
  }
  cursor.expectSign(close, purpose)
}

/** Parses a list, or a list comprehension. */
export function parseBrackets(cursor: TokenCursor, grammar: Grammar): SyntaxNode {
  const { start } = cursor.take()
  const items: SyntaxNode[] = []
  let clauses: readonly ForClause[] | null = null
  parseItems(cursor, ']', 'to close the list', () => {
    items.push(grammar.expression(cursor))
    if (items.length === 1 && cursor.isWord('for')) {
      clauses = parseClauses(cursor, grammar)
      if (cursor.isSign(',')) cursor.fail('a comprehension stands alone in its brackets')
    }
  })
  const end = cursor.lastEnd
  if (clauses === null) return { kind: 'list', items, start, end }
  return { kind: 'comprehension', form: 'list', key: null, element: items[0]!, clauses, start, end }
}

/** Parses a dict, or a dict comprehension. */
export function parseBraces(cursor: TokenCursor, grammar: Grammar): SyntaxNode {
  const { start } = cursor.take()
  const entries: DictNode['entries'][number][] = []
  let clauses: readonly ForClause[] | null = null
  parseItems(cursor, '}', 'to close the dict', () => {
    const key = grammar.expression(cursor)
    if (cursor.isSign(',') || cursor.isSign('}') || cursor.isWord('for')) {
      cursor.refuse('there are no sets; write a list `[a, b]`, or a dict `{"key": value}`', key)
    }
    cursor.expectSign(':', 'after the key of a dict')
    entries.push({ key, value: grammar.expression(cursor) })
    if (entries.length === 1 && cursor.isWord('for')) {
      clauses = parseClauses(cursor, grammar)
      if (cursor.isSign(',')) cursor.fail('a comprehension stands alone in its braces')
    }
  })
  const end = cursor.lastEnd
  if (clauses === null) return { kind: 'dict', entries, start, end }
  const { key, value } = entries[0]!
  return { kind: 'comprehension', form: 'dict', key, element: value, clauses, start, end }
}

/** Parses the `for … in … if …` parts of a comprehension. */
export function parseClauses(cursor: TokenCursor, grammar: Grammar): ForClause[] {
  const clauses: ForClause[] = []
  while (cursor.isWord('for')) {
    const { start } = cursor.take()
    const targets = parseTargets(cursor)
    cursor.expectWord('in', 'after the variable of a comprehension')
    const source = grammar.operand(cursor)
    const tests: SyntaxNode[] = []
    while (cursor.takeWord('if')) tests.push(grammar.operand(cursor))
    if (cursor.isWord('else')) cursor.fail('a filter has no `else`; put `a if c else b` before `for`')
    if (clauses.length >= expressionLimit.depth) {
      throw new SyntaxFailure('expression_limit', 'the comprehension has too many loops', {
        start,
        end: cursor.lastEnd,
      })
    }
    clauses.push({ targets, source, tests, start, end: cursor.lastEnd })
  }
  return clauses
}

function parseTargets(cursor: TokenCursor): NameNode[] {
  const bracket = cursor.takeSign('(')
  const targets: NameNode[] = []
  do {
    const { token } = cursor
    if (token.kind !== 'name' || reservedWords.has(token.text)) {
      cursor.fail(`expected a variable after \`for\`, found ${cursor.describe()}`)
    }
    if (token.sigil) cursor.fail('the variable of a comprehension is written without `$`')
    const advice = adviceFor(foreignWords, token.text)
    if (advice !== null) cursor.refuse(advice)
    cursor.take()
    targets.push({ kind: 'name', name: token.text, sigil: false, start: token.start, end: token.end })
  } while (cursor.takeSign(','))
  if (bracket) cursor.expectSign(')', 'to close the variables')
  return targets
}
