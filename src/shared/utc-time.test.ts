import { expect, test } from 'vitest'
import { utcTime } from './utc-time.ts'

test('writes a time as the platform does', () => {
  for (let at = 0; at < 9_000_000_000_000; at += 7_777_777_777)
    expect(utcTime(at)).toBe(new Date(at).toISOString())
  for (const at of [951_782_399_999, 951_782_400_000, 1_709_164_800_000, -1])
    expect(utcTime(at)).toBe(new Date(at).toISOString())
})
