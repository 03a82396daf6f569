import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timestamp } from './timestamp.ts'

test('says a time as the platform would', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_000_000_000_000, max: 253_000_000_000_000 }), (at) => {
      expect(timestamp(at)).toBe(new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'))
    }),
  )
})
