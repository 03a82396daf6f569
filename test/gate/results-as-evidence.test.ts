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
