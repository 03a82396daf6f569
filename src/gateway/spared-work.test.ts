import { expect, test } from 'vitest'
import { SparedWork } from './spared-work.ts'

test('does the same work once for all who ask, and not again until it has rested', async () => {
  let now = 0
  let times = 0
  const spared = new SparedWork<number>(() => now)
  const work = async () => {
    times++
    await Promise.resolve()
    now += 100
    return times
  }
  expect(await Promise.all([spared.of('a', work), spared.of('a', work)])).toEqual([1, 1])
  expect(await spared.of('b', work)).toBe(2)
  now = 1099
  expect(await spared.of('a', work)).toBe(1)
  now = 1100
  expect(await spared.of('a', work)).toBe(3)
})

test('forgets work that failed', async () => {
  const spared = new SparedWork<number>()
  await expect(spared.of('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await spared.of('a', async () => 1)).toBe(1)
})
