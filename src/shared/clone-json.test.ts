import { expect, test } from 'vitest'
import { cloneJson } from './clone-json.ts'

test('copies JSON so that changing the copy changes nothing else', () => {
  const value = Object.freeze({ a: Object.freeze([1, { b: null }]), c: 'd' })
  const copy = cloneJson(value) as { a: unknown[]; c: string }
  expect(copy).toEqual(value)
  copy.a.push(2)
  expect(value.a).toHaveLength(2)
})

test('copies a member called __proto__ as an ordinary one', () => {
  const copy = cloneJson(JSON.parse('{"__proto__":{"x":1}}')) as object
  expect(Object.keys(copy)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
})
