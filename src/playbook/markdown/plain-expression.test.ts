import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ExpressionError } from '../../expression/expression-error.ts'
import { parseExpression } from '../../expression/parse-expression.ts'
import type { SyntaxNode } from '../../expression/syntax-node.ts'
import { plainExpression } from './plain-expression.ts'

describe('plainExpression', () => {
  test.each(['$x', '7', '$x * 2 + 17', '$x >= $y', '$a<3', '[1, $x]', '$a != 1 - $b', '$x -1'])(
    'reads %s',
    (source) => {
      expect(plainExpression(source)).not.toBeNull()
    },
  )

  test.each([
    '',
    ' $x',
    '$x ',
    '-1',
    '007',
    '1.5',
    '$a.b',
    '$a < $b < $c',
    '$a ** 2',
    '$a // 2',
    '$a = 1',
    '$a and $b',
    '[]',
    '[1,]',
    '$größe',
    '12345678901234567',
    'x',
  ])('leaves %j to the parser', (source) => {
    expect(plainExpression(source)).toBeNull()
  })

  test('reads what the parser reads, and no more', () => {
    const piece = fc.constantFrom(
      '$a',
      '$b_2',
      '0',
      '10',
      '007',
      '+',
      '-',
      '*',
      '/',
      '%',
      '<',
      '>',
      '=',
      '!',
      ' ',
      ',',
      '[',
      ']',
      '.',
      'x',
      'é',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const source = pieces.join('')
        const plain = plainExpression(source)
        if (plain === null) return
        const node = parseExpression(source)
        expect(node).not.toBeInstanceOf(ExpressionError)
        const tree = node as SyntaxNode
        expect([tree.start, tree.end]).toEqual([0, source.length])
        expect(plain.literal).toBe(tree.kind === 'literal' ? tree.value : undefined)
        expect(plain.names).toEqual(namesIn(tree))
      }),
      { numRuns: 5000 },
    )
  })
})

function namesIn(node: SyntaxNode): unknown[] {
  switch (node.kind) {
    case 'name':
      return [{ name: node.name, sigil: node.sigil, start: node.start, end: node.end }]
    case 'list':
      return node.items.flatMap(namesIn)
    case 'arithmetic':
    case 'comparison':
      return [node.first, ...node.rest.map(({ operand }) => operand)].flatMap(namesIn)
    default:
      return []
  }
}
