import { describe, expect, it } from 'vitest'
import type { PlaybookStepDefinition } from '../../src/playbook/playbook-step.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { admit, enforce, fakeClock, forecast, make, playbookOf, refusal, statuses, step } from './enforce.ts'

const optional = { required: false } as const
const escalating = { maxToolCalls: 1, onLimit: 'escalate' } as const

function begin(...steps: readonly PlaybookStepDefinition[]): [PlaybookEnforcer, (seconds: number) => string] {
  const clock = fakeClock()
  const enforcer = enforce(steps, { strictSequence: false }, { clock })
  return [
    enforcer,
    (seconds) => {
      clock.pass(seconds)
      enforcer.checkTime()
      return statuses(enforcer)
    },
  ]
}

describe('the time of a step that is not due', () => {
  it('G8: goes on where it was due for a while, although an earlier step is due again', () => {
    const [enforcer, after] = begin(step('a', optional), step('b', { timeoutSeconds: 10 }))
    enforcer.failCurrentStep('no')
    expect(after(4)).toBe('a failed, b pending')
    enforcer.retryStep('a')
    expect(after(5)).toBe('a pending, b pending')
    expect(after(1)).toBe('a pending, b failed')
  })

  it('G8: is kept through a pause in which an earlier step is due again', () => {
    const [enforcer, after] = begin(
      step('a', optional),
      step('b', { timeoutSeconds: 10 }),
      step('c', escalating),
    )
    enforcer.failCurrentStep('no')
    after(4)
    make(enforcer, 'c', { outcome: 'failed' })
    enforcer.retryStep('a')
    after(100)
    enforcer.retryStep('c')
    expect(after(5)).toBe('a pending, b pending, c pending')
    expect(after(1)).toBe('a pending, b failed, c pending')
  })

  it('G8: does not begin with the end of a pause, if it was due for no time at all', () => {
    const [enforcer, after] = begin(
      step('a', { when: 'steps.b.status == "pending"' }),
      step('b', { timeoutSeconds: 1 }),
      step('c', escalating),
    )
    make(enforcer, 'c', { outcome: 'failed' })
    enforcer.retryStep('c')
    expect(after(5)).toBe('a pending, b pending, c pending')
  })

  it('G8: goes on after a pause that a person ended by giving the step up', () => {
    const [enforcer, after] = begin(
      step('a', { ...escalating, ...optional }),
      step('b'),
      step('c', { timeoutSeconds: 10 }),
    )
    admit(enforcer, 'c')
    after(4)
    make(enforcer, 'a', { outcome: 'failed' })
    after(100)
    enforcer.failCurrentStep('never mind')
    expect(after(5)).toBe('a failed, b pending, c in_progress')
    expect(after(1)).toBe('a failed, b pending, c failed')
  })

  it('G8: stands still until no required step is failed any more', () => {
    const [enforcer, after] = begin(step('a'), step('b'), step('c', { timeoutSeconds: 10 }))
    admit(enforcer, 'c')
    enforcer.failCurrentStep('no')
    enforcer.failCurrentStep('no')
    enforcer.retryStep('a')
    expect(after(100)).toBe('a pending, b failed, c in_progress')
    enforcer.retryStep('b')
    expect(after(9)).toBe('a pending, b pending, c in_progress')
    expect(after(1)).toBe('a pending, b pending, c failed')
  })
})

describe('the time of a step that is held back', () => {
  const timed = { timeoutSeconds: 10 } as const

  it('G8: stands still while a step before it has a call in flight again, and that of others goes on', () => {
    const clock = fakeClock()
    const enforcer = enforce(
      [step('a', { maxToolCalls: 3 }), step('b', { ...timed, after: 'a' }), step('c', timed)],
      {},
      { clock },
    )
    make(enforcer, 'a')
    admit(enforcer, 'c')
    clock.pass(4)
    admit(enforcer, 'a')
    clock.pass(5)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a in_progress, b pending, c in_progress')
    expect(enforcer.snapshot().state.activations).toMatchObject([
      { step: 'a' },
      { step: 'b', activeMs: 4000, activeSince: null },
      { step: 'c', activeMs: 0, activeSince: 1_000_000 },
    ])
    clock.pass(1)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a in_progress, b pending, c failed')
  })

  it('G3: a run taken up meanwhile still holds it back', () => {
    const steps = [step('a', { maxToolCalls: 3 }), step('b'), step('c')]
    const enforcer = enforce(steps)
    make(enforcer, 'a')
    admit(enforcer, 'a')
    const restored = PlaybookEnforcer.restore(playbookOf(steps), enforcer.snapshot())
    expect(refusal(restored, 'b')).toBe('out_of_sequence')
    restored.recordToolCall('a')
    expect(refusal(restored, 'b')).toBeNull()
  })

  it('G3: one step before it with a call in flight is enough, though another way to it is met', () => {
    const steps = [
      step('a', { maxToolCalls: 3 }),
      step('b', { maxToolCalls: 3 }),
      step('c'),
      step('d', { required: false, after: { any: ['a', 'c'] } }),
      step('e', { after: 'd' }),
    ]
    const enforcer = enforce(steps)
    make(enforcer, ['a', 'b', 'c'])
    admit(enforcer, 'b')
    expect(forecast(enforcer, 'd')).toBeNull()
    expect(forecast(enforcer, 'e')).toBeNull()
    admit(enforcer, 'a')
    for (const run of [enforcer, PlaybookEnforcer.restore(playbookOf(steps), enforcer.snapshot())]) {
      expect(refusal(run, 'd')).toBe('out_of_sequence')
      expect(refusal(run, 'e')).toBe('out_of_sequence')
    }
  })
})

describe('of several steps whose time is over', () => {
  it('G8: the first in the list reaches its limit, though its clock was started last', () => {
    const [enforcer, after] = begin(
      step('a', optional),
      step('b', { timeoutSeconds: 1 }),
      step('c', { timeoutSeconds: 1 }),
    )
    admit(enforcer, 'c')
    enforcer.skipCurrentStep()
    expect(after(5)).toBe('a skipped, b failed, c in_progress')
  })
})

describe('a step without a limit of time', () => {
  it('G8: has no clock', () => {
    const [enforcer, after] = begin(step('a'), step('b'))
    after(5)
    make(enforcer, 'a')
    const { timed, activations } = enforcer.snapshot().state
    expect(timed).toEqual([])
    expect(activations).toMatchObject([
      { activeMs: 0, activeSince: null },
      { activeMs: 0, activeSince: null },
    ])
  })
})

describe('a step that only observing let begin before its turn', () => {
  const observe = { blockViolations: false } as const

  it('G13: awaits a person when its limit asks for one, and is due after the steps before it', () => {
    const enforcer = enforce([step('a'), step('b', escalating)], {}, observe)
    make(enforcer, 'b', { outcome: 'failed' })
    expect(enforcer.currentStep?.id).toBe('a')
    make(enforcer, 'a')
    expect(enforcer.currentStep?.id).toBe('b')
  })

  it('G13: does not close a step before it that has a call in flight again', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b')], {}, observe)
    make(enforcer, 'a')
    admit(enforcer, 'a')
    make(enforcer, 'b')
    expect(enforcer.snapshot().state.activations[0]).toMatchObject({ status: 'in_progress', phase: 'open' })
  })

  it('G3: its when is not judged while a step before it has a call in flight again', () => {
    const enforcer = enforce(
      [step('a', { maxToolCalls: 9 }), step('b', { when: 'result("a").ok' })],
      {},
      observe,
    )
    make(enforcer, 'a')
    admit(enforcer, 'a')
    enforcer.retryStep('b')
    expect(enforcer.plan.getStepExecution('b')).toMatchObject({ phase: 'waiting' })
    enforcer.recordToolCall('a', { result: { ok: true } })
    expect(enforcer.plan.getStepExecution('b')).toMatchObject({ phase: 'open' })
  })
})
