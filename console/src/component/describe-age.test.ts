import { expect, test } from 'vitest'
import { describeAge, describeLeft, describeSpan } from './describe-age.ts'

const now = Date.parse('2026-01-02T03:04:05Z')
const ago = (seconds: number) => describeAge(now - seconds * 1000, now)

test('an age is told in its largest whole unit', () => {
  expect([0, 2, 12, 59, 60, 119, 3600, 7300, 90_000, 40_000_000].map(ago)).toEqual([
    'now',
    'now',
    '12 s ago',
    '59 s ago',
    '1 min ago',
    '1 min ago',
    '1 h ago',
    '2 h ago',
    '1 d ago',
    '1 y ago',
  ])
  expect(ago(-90)).toBe('in 1 min')
})

test('a length keeps one digit while it is short, and is never below nothing', () => {
  expect([-5, 0, 999, 1000, 1500, 12_700, 90_000, 5_400_000].map(describeSpan)).toEqual([
    '0 ms',
    '0 ms',
    '999 ms',
    '1 s',
    '1.5 s',
    '12 s',
    '1.5 min',
    '1.5 h',
  ])
})

test('what is left is counted down like a clock, until nothing is', () => {
  const left = (seconds: number) => describeLeft(now + seconds * 1000, now)
  expect([899, 59, 5, 0, 3723, -1].map(left)).toEqual(['14:59', '0:59', '0:05', '0:00', '1:02:03', null])
})
