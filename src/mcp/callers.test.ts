import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { Callers } from './callers.ts'

const digest = `sha256:${createHash('sha256').update('b').digest('hex')}`

test('a caller is who the token says, by reference or by digest', () => {
  const callers = Callers.read({ ada: 'env:ADA', bob: digest }, { ADA: 'a' })
  expect(callers.identify('Bearer a')).toBe('ada')
  expect(callers.identify('bearer b')).toBe('bob')
  for (const header of [undefined, '', 'a', 'Bearer ', 'Bearer c', 'Basic a', `Bearer ${digest}`]) {
    expect(callers.identify(header)).toBeNull()
  }
})

test.each([
  ['two variables', { ada: 'env:A', bob: 'env:B' }, { A: 'same', B: 'same' }],
  ['one variable', { ada: 'env:A', bob: 'env:A' }, { A: 'x' }],
  ['a variable and a digest', { ada: 'env:A', bob: digest }, { A: 'b' }],
])('two callers do not share a token: %s', (_, file, environment) => {
  expect(() => Callers.read(file, environment)).toThrow(
    expect.objectContaining({
      code: 'invalid_value',
      message: expect.stringContaining("'ada' and 'bob' have the same token"),
    }),
  )
})

test('a token itself does not belong in a file, and a missing one is not an empty one', () => {
  for (const [file, environment] of [
    [{ ada: 'a' }, {}],
    [{ ada: 'env:ADA' }, {}],
    [{ ada: 'env:ADA' }, { ADA: '' }],
    [{ ada: 7 }, {}],
    [{}, {}],
    [[], {}],
  ] as const) {
    expect(() => Callers.read(file, environment)).toThrow(expect.objectContaining({ code: 'invalid_value' }))
  }
})
