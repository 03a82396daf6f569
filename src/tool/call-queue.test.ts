import { describe, expect, it } from 'vitest'
import { CallQueue } from './call-queue.ts'

const soon = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Work that is told when to end. */
function held(log: string[], name: string) {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return {
    end: () => end(),
    work: async () => {
      log.push(name)
      await ended
    },
  }
}

describe('CallQueue', () => {
  it('Q1: serves in the order of coming', async () => {
    const log: string[] = []
    const queue = new CallQueue()
    await Promise.all(['a', 'b', 'c'].map((name) => queue.run(false, async () => log.push(name))))
    expect(log).toEqual(['a', 'b', 'c'])
  })

  it('Q1: puts those who step back before all others, in the order in which they did', async () => {
    const log: string[] = []
    const queue = new CallQueue()
    const first = held(log, 'first')
    const all = [
      queue.run(false, first.work),
      queue.run(false, async () => log.push('second')),
      queue.run(false, async () => log.push('back 1'), true),
      queue.run(false, async () => log.push('back 2'), true),
    ]
    first.end()
    await Promise.all(all)
    expect(log).toEqual(['first', 'back 1', 'back 2', 'second'])
  })

  it('Q2: lets readers run together and everything else alone', async () => {
    const log: string[] = []
    const queue = new CallQueue()
    const [r1, r2, w, r3] = ['r1', 'r2', 'w', 'r3'].map((name) => held(log, name))
    const all = [
      queue.run(true, r1!.work),
      queue.run(true, r2!.work),
      queue.run(false, w!.work),
      queue.run(true, r3!.work),
    ]
    await soon()
    expect(log).toEqual(['r1', 'r2'])
    expect(queue.crowded).toBe(true)
    r1!.end()
    await soon()
    expect(queue.crowded).toBe(false)
    expect(log).toEqual(['r1', 'r2'])
    r2!.end()
    await soon()
    expect(log).toEqual(['r1', 'r2', 'w'])
    w!.end()
    await soon()
    expect(log).toEqual(['r1', 'r2', 'w', 'r3'])
    r3!.end()
    await Promise.all(all)
  })

  it('Q2: does not let readers overtake a writer that waits', async () => {
    const log: string[] = []
    const queue = new CallQueue()
    const reader = held(log, 'reader')
    const all = [
      queue.run(true, reader.work),
      queue.run(false, async () => log.push('writer')),
      queue.run(true, async () => log.push('late reader')),
    ]
    await soon()
    expect(log).toEqual(['reader'])
    reader.end()
    await Promise.all(all)
    expect(log).toEqual(['reader', 'writer', 'late reader'])
  })

  it('Q3: gives a slot back when the work fails, at once or later', async () => {
    const queue = new CallQueue()
    await expect(queue.run(false, () => Promise.reject(new Error('later')))).rejects.toThrow('later')
    await expect(
      queue.run(true, () => {
        throw new Error('at once')
      }),
    ).rejects.toThrow('at once')
    expect(await queue.run(false, async () => 'free')).toBe('free')
  })

  it('hands the result of the work on', async () => {
    expect(await new CallQueue().run(true, async () => 42)).toBe(42)
  })
})
