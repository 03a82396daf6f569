import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isWithin, overlaps, readOnce, readWeekly, type TimeWindow } from './time-window.ts'

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
const moment = fc.tuple(
  fc.constantFrom(...days),
  fc.integer({ min: 0, max: 23 }),
  fc.integer({ min: 0, max: 59 }),
)
const text = ([day, hour, minute]: [string, number, number]) =>
  `${day} ${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
const minuteOf = ([day, hour, minute]: [string, number, number]) =>
  days.indexOf(day as (typeof days)[number]) * 1440 + hour * 60 + minute
const monday = Date.UTC(2026, 0, 5)

describe('a window of every week', () => {
  it('holds every minute that walking from its start to its end passes', () => {
    fc.assert(
      fc.property(moment, moment, fc.integer({ min: 0, max: 10_079 }), (from, to, minute) => {
        fc.pre(minuteOf(from) !== minuteOf(to))
        const found = readWeekly({ from: text(from), to: text(to), offset: 'Z' }) as TimeWindow
        let inside = false
        for (let at = minuteOf(from); at !== minuteOf(to); at = (at + 1) % 10_080) inside ||= at === minute
        expect(isWithin(found, monday + minute * 60_000 + 59_999)).toBe(inside)
      }),
      { numRuns: 60 },
    )
  })

  it('overlaps with another where a minute lies in both', () => {
    fc.assert(
      fc.property(moment, moment, moment, moment, (a, b, c, d) => {
        fc.pre(minuteOf(a) !== minuteOf(b) && minuteOf(c) !== minuteOf(d))
        const one = readWeekly({ from: text(a), to: text(b), offset: 'Z' }) as TimeWindow
        const other = readWeekly({ from: text(c), to: text(d), offset: 'Z' }) as TimeWindow
        const shared = Array.from({ length: 10_080 }, (_, minute) => monday + minute * 60_000).some(
          (now) => isWithin(one, now) && isWithin(other, now),
        )
        expect(overlaps(one, other)).toBe(shared)
      }),
      { numRuns: 40 },
    )
  })

  it('is moved by its offset', () => {
    const found = readWeekly({ from: 'Mon 00:30', to: 'Mon 01:30', offset: '+01:00' }) as TimeWindow
    expect(isWithin(found, monday - 30 * 60_000)).toBe(true)
    expect(isWithin(found, monday + 30 * 60_000)).toBe(false)
  })

  it.each([
    [{ from: 'Friday 18:00', to: 'Mon 06:00' }, 'from'],
    [{ from: 'Fri 18:00', to: 'Mon 24:00' }, 'to'],
    [{ from: 'Fri 18:00', to: 'Fri 18:00' }, 'to'],
    [{ from: 'Fri 18:00', to: '06:00', days: ['Fri' as const] }, 'from'],
    [{ from: '18:00', to: 'Mon 06:00', days: ['Fri' as const] }, 'to'],
  ])('says what is wrong with %j', (weekly, key) => {
    expect(readWeekly({ ...weekly, offset: 'Z' })).toMatchObject({
      key,
      problem: expect.stringMatching(/^must /),
    })
  })
})

describe('a single window', () => {
  it('begins at its start and ends before its end', () => {
    const found = readOnce('2026-01-05T00:00:00Z', '2026-01-05T00:01:00Z') as TimeWindow
    expect([-1, 0, 59_999, 60_000].map((after) => isWithin(found, monday + after))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })

  it('ends after it begins', () => {
    expect(readOnce('2026-01-05T00:00:00Z', '2026-01-05T00:00:00Z')).toMatchObject({ key: 'to' })
    expect(readOnce('2026-01-05', '2026-01-06T00:00:00Z')).toMatchObject({ key: 'from' })
  })
})
