import { describe, expect, test } from 'vitest'
import { forwardTime } from './forward-time.ts'

/** What is shown for each time of the clock while the run's last time stays the same. */
function shown(last: number, times: readonly number[]): number[] {
  const read = forwardTime()
  return times.map((now) => read(now, last))
}

describe('forwardTime', () => {
  test('is the time of the clock while that is not behind the run', () => {
    expect(shown(5, [5, 5, 9, 100])).toEqual([5, 5, 9, 100])
  })

  test('goes on at the same pace where the clock was put back, until that has caught up', () => {
    expect(shown(100, [100, 40, 45, 50, 99, 100, 130])).toEqual([100, 100, 105, 110, 159, 100, 130])
    expect(shown(100, [103, 99, 99, 98, 99])).toEqual([103, 100, 100, 100, 101])
  })

  test('goes on from the last time of a run that is taken up where the clock is behind', () => {
    expect(shown(1000, [400, 410, 405, 415])).toEqual([1000, 1010, 1010, 1020])
  })
})
