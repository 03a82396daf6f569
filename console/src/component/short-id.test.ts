import { expect, test } from 'vitest'
import { shortId } from './short-id.ts'

test('a long id is told by its first part, any other as a whole', () => {
  expect(shortId('r_18bb9677-1cc7-446e-82ea-ff969703eac5')).toBe('r_18bb9677')
  expect(shortId('dry_1d610909-c624-44f1-8ee3-aa310b5c05fd')).toBe('dry_1d610909')
  expect(['r_1', 'night-shift', ''].map(shortId)).toEqual(['r_1', 'night-shift', ''])
})
