import { expect, test } from 'vitest'
import { readAnswer, readComplaint } from './read-answer.ts'

const text = (value: string) => ({ type: 'text' as const, text: value })

test('an answer is its structured content, else JSON in its text, else its text, else its parts', () => {
  expect(readAnswer({ content: [text('{"a":1}')], structuredContent: { a: 2 } })).toEqual({ a: 2 })
  expect(readAnswer({ content: [text('{"a":1}')] })).toEqual({ a: 1 })
  expect(readAnswer({ content: [text('[1]')] })).toEqual([1])
  expect(readAnswer({ content: [text('{not json')] })).toBe('{not json')
  // A text that looks like a number is a text: an id must not lose its zeros.
  expect(readAnswer({ content: [text('007')] })).toBe('007')
  expect(readAnswer({ content: [] })).toBeNull()
  expect(readAnswer({ content: [text('a'), text('b')] })).toEqual({ content: [text('a'), text('b')] })
})

test('a complaint is what the texts say', () => {
  expect(readComplaint({ isError: true, content: [text('a'), text('b')] })).toBe('a\nb')
  expect(readComplaint({ isError: true, content: [] })).toBe('it gave no reason')
})
