import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readInstant, readOffset } from './read-instant.ts'

describe('readInstant', () => {
  it('agrees with the platform on every second of four centuries', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12_622_780_799 }), (second) => {
        const text = new Date(second * 1000).toISOString().slice(0, 19)
        expect(readInstant(`${text}Z`)).toBe(second * 1000)
      }),
    )
  })

  it('takes the offset away', () => {
    expect(readInstant('2026-12-20T00:00:00+01:00')).toBe(Date.parse('2026-12-20T00:00:00+01:00'))
    expect(readInstant('2026-12-20T23:30-09:30')).toBe(Date.parse('2026-12-20T23:30:00-09:30'))
    expect(readOffset('+14:00')).toBe(840)
  })

  it.each([
    '2026-12-20',
    '2026-12-20T00:00:00',
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00+15:00',
    '2026-01-01T00:00:00+01:60',
    ' 2026-01-01T00:00:00Z',
    'now',
    '',
  ])('refuses %s', (text) => {
    expect(readInstant(text)).toBeNull()
  })
})
