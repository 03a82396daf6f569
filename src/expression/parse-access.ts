import { expressionLimit } from './expression-limit.ts'
import { adviceFor, foreignWords, reservedWords } from './foreign-syntax.ts'
import type { Grammar } from './grammar.ts'
import { parseBraces, parseBrackets, parseClauses, parseItems } from './parse-collection.ts'
import { parseText } from './parse-text.ts'
import { SyntaxFailure } from './syntax-failure.ts'
import type { AccessStep, KeywordArgument, SyntaxNode } from './syntax-node.ts'
import type { Token } from './read-token.ts'
import type { TokenCursor } from './token-cursor.ts'

/** Parses an atom and everything read from it: members, indexes, slices and calls. */
export function parseAccess(cursor: TokenCursor, grammar: Grammar): SyntaxNode {
  const base = parseAtom(cursor, grammar)
  if (cursor.token.kind !== 'sign') return base
  const steps: AccessStep[] = []
  for (;;) {
    if (cursor.isSign('.')) steps.push(parseMember(cursor, grammar))
    else if (cursor.isSign('[')) steps.push(parseIndex(cursor, grammar))
    else if (cursor.isSign('(')) cursor.refuse('only a function of the reference can be called, by its name')
    else break
  }
  if (steps.length === 0) return base
  const methods = steps.filter((step) => step.kind === 'method')
  if (methods.length > expressionLimit.depth) {
    throw new SyntaxFailure('expression_limit', 'there are too many methods in a row', methods.at(-1)!)
  }
  return { kind: 'access', base, steps, start: base.start, end: cursor.lastEnd }
}

function parseAtom(cursor: TokenCursor, grammar: Grammar): SyntaxNode {
  const { token } = cursor
  const { start, end } = token
  switch (token.kind) {
    case 'number':
    case 'string':
      cursor.take()
      return { kind: 'literal', value: token.value, start, end }
    case 'text-start':
      return parseText(cursor, token, grammar)
    case 'name':
      return token.sigil ? parseSigilName(cursor, token) : parseWord(cursor, token, grammar)
    case 'end':
      return cursor.fail('the expression ends where a value is expected')
    case 'sign':
      break
  }
  if (token.text === '(') return parseParentheses(cursor, grammar)
  if (token.text === '[') return parseBrackets(cursor, grammar)
  if (token.text === '{') return parseBraces(cursor, grammar)
  if (token.text === '/')
    cursor.refuse('regular expressions are not supported; write `startswith`, `endswith` or `in`')
  if (token.text === '*' || token.text === '**')
    cursor.refuse(`spreading with \`${token.text}\` is not supported`)
  if (token.text === '.') cursor.fail('a number starts with a digit: write 0.5 instead of .5')
  return cursor.fail(`expected a value, found ${cursor.describe()}`)
}

function parseSigilName(cursor: TokenCursor, token: Token): SyntaxNode {
  cursor.take()
  return { kind: 'name', name: token.text, sigil: true, start: token.start, end: token.end }
}

function parseWord(cursor: TokenCursor, token: Token, grammar: Grammar): SyntaxNode {
  const { text: name, start, end } = token
  const advice = adviceFor(foreignWords, name)
  if (advice !== null) cursor.refuse(advice)
  if (reservedWords.has(name)) {
    if (name !== 'true' && name !== 'false' && name !== 'null')
      cursor.fail(`expected a value, found \`${name}\``)
    cursor.take()
    return { kind: 'literal', value: name === 'null' ? null : name === 'true', start, end }
  }
  cursor.take()
  if (!cursor.isSign('(')) return { kind: 'name', name, sigil: false, start, end }
  const { positional, keywords } = parseArguments(cursor, grammar)
  return { kind: 'call', name, positional, keywords, start, end: cursor.lastEnd }
}

function parseParentheses(cursor: TokenCursor, grammar: Grammar): SyntaxNode {
  const { start } = cursor.take()
  if (cursor.isSign(')')) cursor.refuse('there are no tuples; write an empty list `[]`')
  const node = grammar.expression(cursor)
  if (cursor.isSign(',')) cursor.refuse('there are no tuples; write a list `[a, b]`')
  if (cursor.isWord('for'))
    cursor.refuse('a comprehension needs brackets: write `[x for x in items]`', {
      start,
      end: cursor.token.end,
    })
  cursor.expectSign(')', 'to close the parenthesis')
  return { ...node, start, end: cursor.lastEnd }
}

function parseMember(cursor: TokenCursor, grammar: Grammar): AccessStep {
  const { start } = cursor.take()
  const { token } = cursor
  if (token.kind !== 'name') cursor.fail(`expected a member's name after the dot, found ${cursor.describe()}`)
  if (token.sigil) cursor.fail('a member is written without `$`')
  cursor.take()
  if (!cursor.isSign('(')) return { kind: 'member', name: token.text, start, end: token.end }
  const { positional, keywords } = parseArguments(cursor, grammar)
  return { kind: 'method', name: token.text, positional, keywords, start, end: cursor.lastEnd }
}

function parseIndex(cursor: TokenCursor, grammar: Grammar): AccessStep {
  const { start } = cursor.take()
  const from = cursor.isSign(':') ? null : grammar.expression(cursor)
  if (cursor.takeSign(':')) {
    const to = cursor.isSign(']') || cursor.isSign(':') ? null : grammar.expression(cursor)
    if (cursor.isSign(':')) cursor.refuse('a slice has no step; write `x[from:to]`')
    cursor.expectSign(']', 'to close the slice')
    return { kind: 'slice', from, to, start, end: cursor.lastEnd }
  }
  if (cursor.isSign(',')) cursor.refuse('an index is one value; write `x[a][b]`')
  cursor.expectSign(']', 'to close the index')
  return { kind: 'index', index: from!, start, end: cursor.lastEnd }
}

function parseArguments(
  cursor: TokenCursor,
  grammar: Grammar,
): { positional: SyntaxNode[]; keywords: KeywordArgument[] } {
  cursor.take()
  const positional: SyntaxNode[] = []
  const keywords: KeywordArgument[] = []
  parseItems(cursor, ')', 'to close the call', () => {
    const { start } = cursor.token
    const value = grammar.expression(cursor)
    if (cursor.isSign('=')) {
      if (value.kind !== 'name' || value.sigil || value.end - value.start !== value.name.length) {
        cursor.refuse('an expression assigns nothing; write `==` to compare')
      }
      cursor.take()
      if (keywords.some((keyword) => keyword.name === value.name)) {
        cursor.fail(`the argument \`${value.name}\` is given twice`, value)
      }
      const given = grammar.expression(cursor)
      keywords.push({ name: value.name, value: given, start, end: given.end })
      return
    }
    if (keywords.length > 0) cursor.fail('an argument without a name must come before those with one', value)
    if (cursor.isWord('for')) {
      const clauses = parseClauses(cursor, grammar)
      const end = cursor.lastEnd
      positional.push({
        kind: 'comprehension',
        form: 'generator',
        key: null,
        element: value,
        clauses,
        start,
        end,
      })
      return
    }
    positional.push(value)
  })
  return { positional, keywords }
}
