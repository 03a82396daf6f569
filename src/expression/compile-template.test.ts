import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileTemplate } from './compile-template.ts'
import { isExpressionError } from './expression-error.ts'
import type { ExpressionValue } from './expression-value.ts'

const options = { names: ['args', 'inputs'] }

function fill(source: string, args: ExpressionValue = {}): unknown {
  const { template, errors } = compileTemplate(source, options)
  if (template === null) return errors.map(({ code }) => code)
  return template.evaluate([args, {}], undefined)
}

describe('compileTemplate', () => {
  it('keeps the type of a value that is only a placeholder', () => {
    const args = { n: 3, list: [1], on: true, none: null, text: '7' }
    for (const [name, value] of Object.entries(args)) expect(fill(`{args.${name}}`, args)).toEqual(value)
    expect(fill('{args}', args)).toEqual(args)
  })

  it('writes everything else as text', () => {
    expect(fill('order {args.n}, {args.list}!', { n: 3, list: [1, 'a'] })).toBe('order 3, [1,"a"]!')
    expect(fill(' {args.n}', { n: 3 })).toBe(' 3')
    expect(fill('{args.n:.2f}', { n: 3 })).toBe('3.00')
    expect(fill('')).toBe('')
    expect(fill('nothing to fill in')).toBe('nothing to fill in')
  })

  it('takes a doubled brace for a brace and a backslash for itself', () => {
    expect(fill('{{"a": {args.n}}}', { n: 1 })).toBe('{"a": 1}')
    expect(fill('C:\\new\\{args.n}', { n: 1 })).toBe('C:\\new\\1')
  })

  it('finds the end of an expression that holds braces and strings itself', () => {
    expect(fill('{ {"a}": args.n} }', { n: 1 })).toEqual({ 'a}': 1 })
    expect(fill('<{args["}"]}>', { '}': 'x' })).toBe('<x>')
  })

  it('does not read what it filled in', () => {
    expect(fill('{args.a}-', { a: '{args.b}', b: 'secret' })).toBe('{args.b}-')
  })

  it.each([
    ['a { b', ['expression_syntax']],
    ['a } b', ['expression_syntax']],
    ['{}', ['expression_syntax']],
    ['{args.x', ['expression_syntax']],
    ['{ars.x}', ['unknown_name']],
    ['{args.x} {ars.x} {inpts.y}', ['unknown_name', 'unknown_name']],
    ['{"a": 1}', ['unsupported_syntax']],
  ])('refuses %s', (source, codes) => {
    expect(fill(source)).toEqual(codes)
  })

  it('says where in the text an error lies', () => {
    const { errors } = compileTemplate('see {ars.x}', options)
    expect(errors).toMatchObject([{ start: 5, end: 8 }])
  })

  it('has no value where a placeholder has none', () => {
    expect(fill('{args.x}')).toMatchObject({ code: 'missing_value' })
    expect(isExpressionError(fill('a {args.x}'))).toBe(true)
    expect(fill('{default(args.x, "none")}')).toBe('none')
  })

  it('hands out its parts', () => {
    const { template } = compileTemplate('/a/{args.x}/{{b', options)
    expect(template?.parts.map((part) => typeof part)).toEqual(['string', 'object', 'string'])
    expect(template?.references).toMatchObject([{ name: 'args', path: ['x'] }])
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}"\'\\ax.[]:f\n') }), (source) => {
        const { template, errors } = compileTemplate(source, options)
        return (template === null) === errors.length > 0
      }),
    )
  })
})
