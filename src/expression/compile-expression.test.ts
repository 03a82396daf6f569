import { describe, expect, test } from 'vitest'
import { compileExpression, type ContextFunction } from './compile-expression.ts'
import { expressionErrorCodes } from './expression-error.ts'
import type { ExpressionValue } from './expression-value.ts'

interface Call {
  readonly tool: string | null
  readonly given: Record<string, ExpressionValue>
}

/** Records what it was asked, and answers from a table. */
function past(
  name: string,
  returns: 'boolean' | 'number' | 'any',
): ContextFunction<{ calls: Call[]; answer?: ExpressionValue }> {
  return {
    name,
    literal: true,
    keywords: true,
    returns,
    bind: (tool, keywords) => (host, values) => {
      host.calls.push({
        tool,
        given: Object.fromEntries(keywords.map((keyword, i) => [keyword, values[i]!])),
      })
      return host.answer
    },
  }
}

const functions = [past('succeeded', 'boolean'), past('count', 'number'), past('result', 'any')]
const options = { profile: 'condition', names: ['args', 'steps'], functions } as const

function compiled(source: string) {
  const { expression, errors } = compileExpression(source, options)
  if (expression === null) throw new Error(errors[0]!.message)
  return expression
}

function paths(source: string) {
  return compiled(source).references.map(({ name, path }) => [name, ...path].join('.'))
}

function codesOf(source: string) {
  return compileExpression(source, options).errors.map((error) => error.code)
}

describe('references', () => {
  test('name each use of a root with its fixed members', () => {
    expect(compiled('args.order.id == steps["a-b"].status').references).toEqual([
      { name: 'args', path: ['order', 'id'], start: 0, end: 13 },
      { name: 'steps', path: ['a-b', 'status'], start: 17, end: 36 },
    ])
  })

  test('stop at the first index that is computed, a number, a slice or a method', () => {
    expect(paths('args.a[args.b].c == 1').toSorted()).toEqual(['args.a', 'args.b'])
    expect(paths('args.a[0].c == 1')).toEqual(['args.a'])
    expect(paths('args.a[1:] == []')).toEqual(['args.a'])
    expect(paths('args.a.lower() == "x"')).toEqual(['args.a'])
    expect(paths('has(args)')).toEqual(['args'])
  })

  test('leave out the variables of comprehensions', () => {
    expect(compiled('any(x.a == 1 for x in args.xs)').references.map(({ path }) => path)).toEqual([['xs']])
  })
})

describe('context functions', () => {
  test('are listed with their literal and keywords', () => {
    expect(compiled('succeeded("lookup_order", order_id=args.order_id)').calls).toEqual([
      { name: 'succeeded', literal: 'lookup_order', keywords: ['order_id'], start: 0, end: 49 },
    ])
  })

  test('get the values of their keywords, and their result can be read further', () => {
    const host = { calls: [] as Call[], answer: { customer: 'c1' } }
    const source = 'result("lookup", id=args.id, n=1 + 1).customer == "c1"'
    expect(compiled(source).evaluate([{ id: 7 }, {}], host)).toBe(true)
    expect(host.calls).toEqual([{ tool: 'lookup', given: { id: 7, n: 2 } }])
  })

  test('give a missing value by undefined, which has and default absorb', () => {
    const host = { calls: [] as Call[] }
    expect(compiled('result("lookup").id == 1').evaluate([{}, {}], host)).toMatchObject({
      code: 'missing_value',
      message: '`result("lookup")` has no value',
    })
    expect(compiled('has(result("lookup"))').evaluate([{}, {}], host)).toBe(false)
    expect(compiled('has(result("lookup").id)').evaluate([{}, {}], host)).toBe(false)
    expect(compiled('default(result("lookup").id, 5) == 5').evaluate([{}, {}], host)).toBe(true)
  })

  test('are not asked when an argument is missing', () => {
    const host = { calls: [] as Call[], answer: true }
    expect(compiled('succeeded("x", id=args.id)').evaluate([{}, {}], host)).toMatchObject({
      code: 'missing_value',
    })
    expect(host.calls).toEqual([])
  })

  test('are checked when the expression is compiled', () => {
    expect(codesOf('succeeded(args.tool)')).toEqual(['wrong_arguments'])
    expect(codesOf('succeeded()')).toEqual(['wrong_arguments'])
    expect(codesOf('succeeded("a", "b")')).toEqual(['wrong_arguments'])
    expect(codesOf('suceeded("a")')).toEqual(['unknown_function'])
    expect(codesOf('count("a")')).toEqual(['wrong_type'])
    expect(codesOf('count("a") > 1 and succeeded("a")')).toEqual([])
    expect(codesOf('succeeded("a") > 1')).toEqual(['wrong_type'])
  })

  test('bind once for each call in the source, however often it is evaluated', () => {
    let bound = 0
    const counting: ContextFunction<null> = {
      name: 'f',
      literal: false,
      keywords: false,
      returns: 'boolean',
      bind: () => {
        bound++
        return () => true
      },
    }
    const { expression } = compileExpression<null>('f() and f()', {
      profile: 'condition',
      names: [],
      functions: [counting],
    })
    for (let i = 0; i < 3; i++) expression!.evaluate([], null)
    expect(bound).toBe(2)
  })

  test('that take no argument refuse one', () => {
    const bare: ContextFunction<null> = {
      name: 'f',
      literal: false,
      keywords: false,
      returns: 'any',
      bind: () => () => 1,
    }
    const codes = (source: string) =>
      compileExpression<null>(source, { profile: 'template', names: [], functions: [bare] }).errors.map(
        ({ code }) => code,
      )
    expect(codes('f()')).toEqual([])
    expect(codes('f("a")')).toEqual(['wrong_arguments'])
    expect(codes('f(a=1)')).toEqual(['wrong_arguments'])
  })
})

describe('errors', () => {
  test('are all found in one pass, in the order of the source', () => {
    expect(codesOf('foo.a == 1 and lenn(args) == 2 and args.s.trim() and 1 < "a"')).toEqual([
      'unknown_name',
      'unknown_function',
      'unsupported_syntax',
      'wrong_type',
    ])
  })

  test('are each listed among the codes', () => {
    for (const source of ['1 +', 'a && b', 'str(1)', 'foo', 'foo()', 'len()', '1e999', '1']) {
      for (const code of codesOf(source)) expect(expressionErrorCodes).toContain(code)
    }
  })
})

test('constants that an evaluation hands out cannot be changed by their receiver', () => {
  const { expression } = compileExpression<null>('{"a": [1, 2]}', { profile: 'template', names: [] })
  const value = expression!.evaluate([], null) as unknown as { a: number[] }
  expect(() => value.a.push(3)).toThrow(TypeError)
  expect(expression!.evaluate([], null)).toEqual({ a: [1, 2] })
})

test('an evaluation never changes the data it is given', () => {
  const args = Object.freeze({
    xs: Object.freeze([3, 1, 2]) as readonly number[],
    d: Object.freeze({ a: 1 }),
  })
  const { expression } = compileExpression<null>(
    '[sorted(args.xs), args.xs + [1], args.xs[1:], args.d.items(), {"b": args.d}]',
    {
      profile: 'template',
      names: ['args'],
    },
  )
  expect(expression!.evaluate([args], null)).toEqual([
    [1, 2, 3],
    [3, 1, 2, 1],
    [1, 2],
    [['a', 1]],
    { b: { a: 1 } },
  ])
})
