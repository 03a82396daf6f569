import { expect, test } from 'vitest'
import { formatCost, formatCount, formatShare } from './format-number.ts'

test('a cost that is not known is a dash, and a small one is not nothing', () => {
  expect([null, 0, 0.00123, 0.014, 1234.5].map(formatCost)).toEqual([
    '–',
    '$0.00',
    '$0.0012',
    '$0.01',
    '$1,234.50',
  ])
})

test('a share of nothing is a dash', () => {
  expect([formatShare(1, 3), formatShare(0, 0), formatCount(12_345)]).toEqual(['33 %', '–', '12,345'])
})
