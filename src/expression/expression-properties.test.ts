import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileExpression } from './compile-expression.ts'
import { ExpressionError } from './expression-error.ts'
import type { ExpressionValue } from './expression-value.ts'
import { floorDivide, modulo } from './compile-arithmetic.ts'

const names = ['args', 'inputs']
const data: ExpressionValue = { a: 1, b: 'x', c: [1, 2, 3], d: { e: null, f: true }, t: true, f: false, z: 0 }

function run(source: string, profile: 'condition' | 'template', values: ExpressionValue[] = [data, data]) {
  const { expression, errors } = compileExpression<null>(source, { profile, names })
  return expression === null ? errors[0]! : expression.evaluate(values, null)
}

/** Words and signs that are likely to make something that almost parses. */
const words =
  '+ - * / // % ** ( ) [ ] { } , . : = == != < <= > >= and or not in if else for x args inputs true false null ' +
  's 1 0 2.5 1e9 len( any( all( range( sum( str( has( default( .a .c .constructor .__proto__ .lower() .items() ' +
  '[0] [-1] [1:] $x && "t" f"{ }" \'s\' \u0000'
const fragment = fc.constantFrom(...words.split(' '), 'for x in args.c')

describe('any source text', () => {
  test.each(['condition', 'template'] as const)('is answered by a value, as a %s', (profile) => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(fragment, { maxLength: 30 }).map((all) => all.join(' ')),
        ),
        (source) => {
          const { expression, errors } = compileExpression<null>(source, { profile, names })
          if (expression === null) {
            expect(errors.length).toBeGreaterThan(0)
            for (const error of errors) {
              expect(error.start).toBeGreaterThanOrEqual(0)
              expect(error.end).toBeGreaterThanOrEqual(error.start)
              expect(error.end).toBeLessThanOrEqual(source.length)
            }
            return
          }
          const value = expression.evaluate([data, undefined], null)
          if (profile === 'condition')
            expect(value === true || value === false || value instanceof ExpressionError).toBe(true)
          expect(typeof value === 'function' || value === undefined).toBe(false)
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('gives the same answer each time', () => {
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 20 }), (all) => {
        const { expression } = compileExpression<null>(all.join(' '), { profile: 'template', names })
        if (expression === null) return
        expect(expression.evaluate([data, data], null)).toEqual(expression.evaluate([data, data], null))
      }),
      { numRuns: 1000 },
    )
  })
})

/** A sum of known value: the text of it, and what plain JavaScript makes of it. */
interface Known {
  readonly text: string
  readonly value: number
}

const known = fc.letrec<{ known: Known }>((tie) => ({
  known: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.integer({ min: 0, max: 1000 }).map((value) => ({ text: String(value), value })),
    tie('known').map(({ text, value }) => ({ text: `(-${text})`, value: 0 - value })),
    fc
      .tuple(tie('known'), fc.constantFrom('+', '-', '*', '/', '//', '%'), tie('known'))
      .map(([left, sign, right]) => ({
        text: `(${left.text} ${sign} ${right.text})`,
        value: applied(sign, left.value, right.value),
      })),
    fc.tuple(tie('known'), tie('known'), tie('known')).map(([test, yes, no]) => ({
      text: `(${yes.text} if ${test.text} > 10 else ${no.text})`,
      value: Number.isNaN(test.value) ? Number.NaN : test.value > 10 ? yes.value : no.value,
    })),
  ),
})).known

function applied(sign: string, left: number, right: number): number {
  switch (sign) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return right === 0 ? Number.NaN : left / right
    case '//':
      return right === 0 ? Number.NaN : floorDivide(left, right)
    default:
      return right === 0 ? Number.NaN : modulo(left, right)
  }
}

describe('arithmetic', () => {
  test('agrees with plain JavaScript, and errs where that has no number', () => {
    fc.assert(
      fc.property(known, ({ text, value }) => {
        const answer = run(text, 'template')
        if (Number.isFinite(value)) expect(answer).toBe(value)
        else expect(answer).toBeInstanceOf(ExpressionError)
      }),
      { numRuns: 2000 },
    )
  })

  test('keeps the law of division: x == (x // y) * y + x % y for whole numbers', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer().filter((y) => y !== 0),
        (x, y) => {
          expect(run(`(${x}) // (${y}) * (${y}) + (${x}) % (${y}) == (${x})`, 'condition')).toBe(true)
        },
      ),
    )
  })

  test('reads each double from its shortest text', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }), (value) => {
        expect(run(String(value), 'template')).toBe(value)
      }),
    )
  })
})

/** One operand of each kind: true, false, missing, of the wrong type, without an answer. */
const operand = fc.constantFrom('args.t', 'args.f', 'args.nope', 'args.b', '1 / args.z == 1')
const truth = (value: unknown) => (value instanceof ExpressionError ? 'error' : value)

describe('Kleene logic', () => {
  test('does not depend on the order of operands', () => {
    fc.assert(
      fc.property(
        fc.array(operand, { minLength: 2, maxLength: 6 }),
        fc.constantFrom(' and ', ' or '),
        (operands, sign) => {
          const forward = truth(run(operands.join(sign), 'condition'))
          expect(truth(run(operands.toReversed().join(sign), 'condition'))).toBe(forward)
          expect(truth(run(operands.toSorted().join(sign), 'condition'))).toBe(forward)
        },
      ),
    )
  })

  test('obeys De Morgan', () => {
    fc.assert(
      fc.property(operand, operand, (a, b) => {
        expect(truth(run(`not (${a} and ${b})`, 'condition'))).toBe(
          truth(run(`not (${a}) or not (${b})`, 'condition')),
        )
        expect(truth(run(`not (${a} or ${b})`, 'condition'))).toBe(
          truth(run(`not (${a}) and not (${b})`, 'condition')),
        )
      }),
    )
  })

  test('any and all agree with or and and over the same elements', () => {
    const element = fc.constantFrom<ExpressionValue>({ v: true }, { v: false }, {}, { v: 1 }, 'x')
    fc.assert(
      fc.property(fc.array(element, { minLength: 2, maxLength: 5 }), (items) => {
        const each = items.map((_, i) => `args[${i}].v`)
        expect(truth(run('any(x.v for x in args)', 'condition', [items, null]))).toBe(
          truth(run(each.join(' or '), 'condition', [items, null])),
        )
        expect(truth(run('all(x.v for x in args)', 'condition', [items, null]))).toBe(
          truth(run(each.join(' and '), 'condition', [items, null])),
        )
      }),
    )
  })
})

describe('data', () => {
  test('equals its copy and differs from its changed copy', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const given = JSON.parse(JSON.stringify(value)) as ExpressionValue
        expect(run('args == inputs', 'condition', [given, structuredClone(given)])).toBe(true)
        expect(run('args == inputs', 'condition', [given, [given]])).toBe(false)
      }),
    )
  })

  test('survives the trip through its own text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const given = JSON.parse(JSON.stringify(value)) as ExpressionValue
        const text = run('str([args])', 'template', [given, null])
        expect(JSON.parse(text as string)).toEqual([given])
      }),
    )
  })

  test('is never reached through a name that every object inherits', () => {
    const prototypes = [Object.prototype, Array.prototype, String.prototype, Function.prototype]
    const inherited = Array.from(new Set(prototypes.flatMap((each) => Object.getOwnPropertyNames(each))))
    fc.assert(
      fc.property(fc.constantFrom(...inherited), fc.jsonValue({ maxDepth: 2 }), (name, value) => {
        const given = JSON.parse(JSON.stringify(value)) as ExpressionValue
        const isOwn =
          typeof given === 'object' && given !== null && !Array.isArray(given) && Object.hasOwn(given, name)
        expect(run(`has(args["${name}"])`, 'condition', [given, null])).toBe(isOwn)
        expect(run(`has(args.${name})`, 'condition', [given, null])).toBe(isOwn)
        expect(run(`has(args[inputs])`, 'condition', [given, name])).toBe(isOwn)
      }),
      { numRuns: 1000 },
    )
  })
})
