import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ValueType } from '../../playbook/program.ts'
import type { Json } from '../../shared/json.ts'
import { plainAnswer } from './plain-answer.ts'

const plain: readonly (readonly [ValueType, string, Json])[] = [
  ['int', '42', 42],
  ['int', ' 42\n', 42],
  ['int', '42.', 42],
  ['int', '-7', -7],
  ['int', '+7', 7],
  ['int', '0', 0],
  ['int', '-0', 0],
  ['int', '9007199254740991', 9007199254740991],
  ['float', '42', 42],
  ['float', '0.5', 0.5],
  ['float', '-12.25', -12.25],
  ['float', '0.125', 0.125],
  ['float', '1234.567', 1234.567],
  ['float', '-0.0', 0],
  ['bool', 'yes', true],
  ['bool', 'Yes.', true],
  ['bool', 'YEP!', true],
  ['bool', 'y', true],
  ['bool', 'true', true],
  ['bool', 'no', false],
  ['bool', 'Nope', false],
  ['bool', 'false', false],
  ['str', 'ORD-42', 'ORD-42'],
  ['str', '42', '42'],
  ['str', '007', '007'],
  ['str', 'Ada', 'Ada'],
  ['str', 'Zoë', 'Zoë'],
  ['str', 'नमस्ते', 'नमस्ते'],
  ['str', 'ada.moreno+shop@example.com', 'ada.moreno+shop@example.com'],
  ['str', '+4915123456', '+4915123456'],
  ['str', 'https://example.com/a?b=c&d=%20e', 'https://example.com/a?b=c&d=%20e'],
  ['str', '"two words"', 'two words'],
  ['str', '“two words”', 'two words'],
  ['str', '„zwei Wörter“', 'zwei Wörter'],
  ['str', "'help'", 'help'],
  ['any', 'ORD-42', 'ORD-42'],
  ['any', '42', 42],
  ['any', '4.5', 4.5],
  ['any', '007', '007'],
  ['any', '"42"', '42'],
]

const open: readonly (readonly [ValueType, string])[] = [
  ['int', ''],
  ['int', 'forty two'],
  ['int', '1,000'],
  ['int', '1.000'],
  ['int', '1 000'],
  ['int', '42.0'],
  ['int', '1e3'],
  ['int', '0x10'],
  ['int', '007'],
  ['int', '$30'],
  ['int', '30 EUR'],
  ['int', '9007199254740993'],
  ['int', '--1'],
  ['int', '４２'],
  ['float', '1.000'],
  ['float', '12.345'],
  ['float', '1,5'],
  ['float', '.5'],
  ['float', '1.2.3'],
  ['float', '0.12345678901234567'],
  ['float', 'NaN'],
  ['float', 'Infinity'],
  ['bool', 'sure'],
  ['bool', 'ok'],
  ['bool', 'not really'],
  ['bool', 'yes, but later'],
  ['bool', 'yes no'],
  ['bool', 'yes?'],
  ['bool', '1'],
  ['str', 'My order is ORD-42'],
  ['str', 'ORD-42.'],
  ['str', 'ORD-42?'],
  ['str', '#42'],
  ['str', '$30'],
  ['str', '-'],
  ['str', '?'],
  ['str', '""'],
  ['str', '" "'],
  ['str', '"one" or "two"'],
  ['str', 'help'],
  ['str', 'Cancel'],
  ['str', 'no'],
  ['str', 'WHY'],
  ['str', '<b>'],
  ['str', 'a\u0000b'],
  ['str', 'a\u202eb'],
  ['str', 'x'.repeat(201)],
  ['any', 'none'],
  ['any', '1,000'],
  ['any', '1 2'],
  ['list', '[1]'],
  ['dict', '{"a":1}'],
]

describe('a reply', () => {
  test.each(plain)('is plainly %s: %j', (type, reply, value) => {
    expect(plainAnswer([{ name: 'v', type }], reply)).toEqual({ v: value })
  })

  test.each(open)('is not plainly %s: %j', (type, reply) => {
    expect(plainAnswer([{ name: 'v', type }], reply)).toBeNull()
  })

  test.each([
    ['quantity', 42],
    ['number', 42],
    ['number_of_items', 42],
    ['order_id', '42'],
    ['orderId', '42'],
    ['order_number', '42'],
    ['phone', '42'],
    ['zip', '42'],
    ['paid', 42],
  ])('that is a number, for %s of any type, is %j', (name, value) => {
    expect(plainAnswer([{ name, type: 'any' }], '42')).toEqual({ [name]: value })
  })

  test('to a question for nothing, or for more than one value, is left to a model', () => {
    const slot = { name: 'v', type: 'int' } as const
    expect(plainAnswer([], '42')).toBeNull()
    expect(plainAnswer([slot, { ...slot, name: 'w' }], '42')).toBeNull()
  })

  test('of one word may set off a trigger, and is left to a model there; a mark with digits is not', () => {
    const slot = { name: 'v', type: 'str' } as const
    expect(plainAnswer([slot], 'refund', 'open')).toBeNull()
    expect(plainAnswer([slot], 'ORD-42', 'open')).toEqual({ v: 'ORD-42' })
    expect(plainAnswer([slot], 'a@b.c', 'open')).toEqual({ v: 'a@b.c' })
    expect(plainAnswer([slot], '"refund"', 'open')).toEqual({ v: 'refund' })
    expect(plainAnswer([{ name: 'v', type: 'bool' }], 'yes', 'open')).toEqual({ v: true })
  })

  test('gives a value of the type that was asked for, or none', () => {
    const is: Readonly<Record<string, (value: Json) => boolean>> = {
      int: Number.isSafeInteger,
      float: Number.isFinite,
      bool: (value) => typeof value === 'boolean',
      str: (value) => typeof value === 'string',
    }
    const reply = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'0123456789.,+-eE "') }),
    )
    fc.assert(
      fc.property(fc.constantFrom('int', 'float', 'bool', 'str'), reply, (type, text) => {
        const values = plainAnswer([{ name: '__proto__', type: type as ValueType }], text)
        if (values === null) return
        expect(Object.keys(values)).toEqual(['__proto__'])
        expect(is[type]!(Object.values(values)[0]!)).toBe(true)
      }),
    )
  })
})
