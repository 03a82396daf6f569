import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ExpressionError } from './expression-error.ts'
import { parseExpression } from './parse-expression.ts'

/** A tree without positions, beside the text that should give it. */
interface Written {
  readonly text: string
  readonly tree: unknown
}

/** The tree that a text gives, without positions and with nothing but what was said. */
function treeOf(source: string): unknown {
  const node = parseExpression(source)
  if (node instanceof ExpressionError) return node
  return JSON.parse(
    JSON.stringify(node, (key, value: unknown) => (key === 'start' || key === 'end' ? undefined : value)),
  )
}

const word = fc.constantFrom('args', 'inputs', 'x', 'total_1', 'größe')
const quoted = fc.string({ unit: 'grapheme-ascii', maxLength: 8 }).map((value) => ({
  value,
  text: `"${value.replace(/[\\"]/g, '\\$&')}"`,
}))

const { written } = fc.letrec<{ written: Written }>((tie) => {
  const part = tie('written')
  return {
    written: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.nat({ max: 9999 }).map((value) => ({ text: String(value), tree: { kind: 'literal', value } })),
      quoted.map(({ value, text }) => ({ text, tree: { kind: 'literal', value } })),
      fc
        .constantFrom(true, false, null)
        .map((value) => ({ text: String(value), tree: { kind: 'literal', value } })),
      word.map((name) => ({ text: name, tree: { kind: 'name', name, sigil: false } })),
      fc.tuple(part, fc.constantFrom('and', 'or'), part).map(([a, kind, b]) => ({
        text: `(${a.text}) ${kind} (${b.text})`,
        tree: { kind, operands: [a.tree, b.tree] },
      })),
      part.map(({ text, tree }) => ({ text: `not (${text})`, tree: { kind: 'not', operand: tree } })),
      part.map(({ text, tree }) => ({ text: `-(${text})`, tree: { kind: 'negate', operand: tree } })),
      fc.tuple(part, fc.constantFrom('+', '-', '*', '/', '//', '%'), part).map(([a, operator, b]) => ({
        text: `(${a.text})${operator}(${b.text})`,
        tree: { kind: 'arithmetic', first: a.tree, rest: [{ operator, operand: b.tree }] },
      })),
      fc
        .tuple(part, fc.constantFrom('==', '!=', '<', '<=', '>', '>=', 'in', 'not in'), part)
        .map(([a, operator, b]) => ({
          text: `(${a.text}) ${operator} (${b.text})`,
          tree: { kind: 'comparison', first: a.tree, rest: [{ operator, operand: b.tree }] },
        })),
      fc.tuple(part, part, part).map(([value, condition, otherwise]) => ({
        text: `(${value.text}) if (${condition.text}) else (${otherwise.text})`,
        tree: {
          kind: 'choice',
          branches: [{ test: condition.tree, value: value.tree }],
          otherwise: otherwise.tree,
        },
      })),
      fc.array(part, { maxLength: 3 }).map((items) => ({
        text: `[${items.map(({ text }) => text).join(', ')}]`,
        tree: { kind: 'list', items: items.map(({ tree }) => tree) },
      })),
      fc.tuple(part, word, part).map(([base, name, index]) => ({
        text: `(${base.text}).${name}[${index.text}]`,
        tree: {
          kind: 'access',
          base: base.tree,
          steps: [
            { kind: 'member', name },
            { kind: 'index', index: index.tree },
          ],
        },
      })),
      fc.tuple(word, part, word, part).map(([name, given, keyword, value]) => ({
        text: `${name}(${given.text}, ${keyword}=${value.text})`,
        tree: {
          kind: 'call',
          name,
          positional: [given.tree],
          keywords: [{ name: keyword, value: value.tree }],
        },
      })),
      fc.tuple(part, part, part).map(([element, source, filter]) => ({
        text: `[${element.text} for v in (${source.text}) if (${filter.text})]`,
        tree: {
          kind: 'comprehension',
          form: 'list',
          key: null,
          element: element.tree,
          clauses: [
            {
              targets: [{ kind: 'name', name: 'v', sigil: false }],
              source: source.tree,
              tests: [filter.tree],
            },
          ],
        },
      })),
      part.map(({ text, tree }) => ({
        text: `f"a{{{(${text})}"`.replace('{{{', '{{{ '),
        tree: { kind: 'text', parts: ['a{', { value: tree, format: null }] },
      })),
    ),
  }
})

test('a tree that is written out is read back as the same tree', () => {
  fc.assert(
    fc.property(written, ({ text, tree }) => {
      expect(treeOf(text)).toEqual(tree)
    }),
    { numRuns: 2000 },
  )
})

test('blanks and line breaks between words change nothing', () => {
  expect(treeOf(' a .b [ 0 ]\n+\tf ( x , y = 1 ) ')).toEqual(treeOf('a.b[0]+f(x,y=1)'))
})

test('operators bind in the order of the reference', () => {
  const pairs: Record<string, string> = {
    'a or b and c': 'a or (b and c)',
    'not a and b': '(not a) and b',
    'not a == b': 'not (a == b)',
    'a == b + c': 'a == (b + c)',
    'a + b * c': 'a + (b * c)',
    '-a * b': '(-a) * b',
    '-a ** b': '-(a ** b)',
    'a ** -b': 'a ** (-b)',
    'a ** b ** c': 'a ** (b ** c)',
    'a.b ** c[0]': '(a.b) ** (c[0])',
    'a if b else c or d': 'a if b else (c or d)',
    'a or b if c else d': '(a or b) if c else d',
    'not a in b': 'not (a in b)',
  }
  for (const [bare, explicit] of Object.entries(pairs))
    expect([bare, treeOf(bare)]).toEqual([bare, treeOf(explicit)])
})

test('every part carries its own place in the source', () => {
  const source = '  args.amount <= (100 + 5)  '
  const node = parseExpression(source)
  if (node instanceof ExpressionError || node.kind !== 'comparison') throw new Error('not a comparison')
  const text = (range: { start: number; end: number }) => source.slice(range.start, range.end)
  expect(text(node)).toBe('args.amount <= (100 + 5)')
  expect(text(node.first)).toBe('args.amount')
  expect(text(node.rest[0]!.operand)).toBe('(100 + 5)')
})
