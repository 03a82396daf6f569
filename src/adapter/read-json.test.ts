import { expect, test } from 'vitest'
import { readJson } from './read-json.ts'

test('keeps a whole number that would be rounded as text', () => {
  const text = '{"id":12345678901234567890,"n":-3,"f":0.1,"big":1e400,"list":[9007199254740993]}'
  expect(readJson(text)).toEqual({
    id: '12345678901234567890',
    n: -3,
    f: 0.1,
    big: '1e400',
    list: ['9007199254740993'],
  })
})

test('says when a text is no JSON', () => {
  expect(readJson('{"a":')).toBe(undefined)
  expect(readJson('null')).toBe(null)
})
