import { expect, it } from 'vitest'
import { enforce, make, statuses, step } from './enforce.ts'

it('G6: a success without a result counts as one whose result is null', () => {
  const enforcer = enforce([step('a', { validation: { expression: 'results[0] == null' } })])
  make(enforcer, 'a')
  expect(statuses(enforcer)).toBe('a completed')
})

it('G6: a keyword is looked for in a text as it is, and not as JSON would write it', () => {
  const enforcer = enforce([step('a', { validation: { requiredResultKeywords: ['say "yes"'] } })])
  make(enforcer, 'a', { result: 'They say "Yes".' })
  expect(statuses(enforcer)).toBe('a completed')
})

it.each<[string, string, boolean]>([
  ['ok', 'ok', true],
  ['ok', 'all is OK.', true],
  ['ok', 'token', false],
  ['ok', 'ok1', false],
  ['ok', '_ok', false],
  ['ok', 'the book is ok', true],
  ['done!', 'done!now', true],
  ['done!', 'undone!', false],
  ['#7', 'issue#7', true],
  ['#7', 'issue #77', false],
])('G6: a keyword is a word of its own: %s in %s', (keyword, result, found) => {
  const enforcer = enforce([step('a', { validation: { requiredResultKeywords: [keyword] } })])
  make(enforcer, 'a', { result })
  expect(statuses(enforcer)).toBe(found ? 'a completed' : 'a in_progress')
})
