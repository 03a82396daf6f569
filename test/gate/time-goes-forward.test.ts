import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/run/event.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { admit, enforce, fakeClock, make, playbookOf, statuses, step } from './enforce.ts'

describe('a clock that goes back', () => {
  it('does not take the record with it, whatever is asked meanwhile', () => {
    const clock = fakeClock()
    const events: RunEvent[] = []
    const enforcer = enforce(
      [
        step('a', { maxToolCalls: 2 }),
        step('b', { expectedTools: [], required: false }),
        step('c', { expectedTools: [] }),
        step('d'),
        step('e', { when: 'succeeded("d")' }),
      ],
      {},
      { clock, finishAttempts: 0, onEvents: (each) => events.push(...each) },
    )
    const moves = [
      () => make(enforcer, 'a'),
      () => enforcer.validateToolCall('z'),
      () => enforcer.recordToolCall('z'),
      () => enforcer.beginIteration(),
      () => enforcer.skipCurrentStep(),
      () => enforcer.skipCurrentStep(),
      () => enforcer.completeCurrentStep(),
      () => enforcer.failCurrentStep('no'),
      () => enforcer.retryStep('d'),
      () => make(enforcer, 'd'),
      () => enforcer.finish(),
    ]
    clock.pass(10)
    make(enforcer, 'a', { outcome: 'failed' })
    clock.pass(-5)
    for (const move of moves) move()
    expect(events.map(({ type }) => type)).toContain('step.opened')
    const times = events.slice(1).map(({ at }) => at)
    expect(new Set(times)).toEqual(new Set([1_010_000]))
    expect(enforcer.snapshot().state.clock).toBe(1_010_000)
  })

  it('does not take the end of a run with it', () => {
    const clock = fakeClock()
    const events: RunEvent[] = []
    const enforcer = enforce([step('a')], {}, { clock, onEvents: (each) => events.push(...each) })
    clock.pass(-5)
    enforcer.end('cancelled')
    expect(events.map(({ at }) => at)).toEqual([1_000_000, 1_000_000])
  })
})

describe('the time of a step', () => {
  it('G8: does not run out after the end of the run', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { timeoutSeconds: 1 })], {}, { clock, finishAttempts: 0 })
    enforcer.finish()
    clock.pass(5)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a pending')
    expect(enforcer.snapshot().state.activations).toMatchObject([{ activeSince: null, activeMs: 0 }])
  })

  it('G8: does not run out in a version of the playbook that gives it no limit', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { timeoutSeconds: 1 })], {}, { clock })
    admit(enforcer, 'a')
    clock.pass(5)
    const restored = PlaybookEnforcer.restore(playbookOf([step('a')]), enforcer.snapshot(), {
      clock,
      acceptOtherVersion: true,
    })
    restored.checkTime()
    expect(statuses(restored)).toBe('a in_progress')
  })
})
