import { describe, expect, it } from 'vitest'
import { admit, enforce, make, step } from './enforce.ts'
import type { RunEvent } from '../../src/run/event.ts'

describe('a final answer', () => {
  it('G9: skips what is left and leaves skipped and failed optional steps as they are', () => {
    const events: RunEvent[] = []
    const optional = { required: false } as const
    const enforcer = enforce(
      [step('a', optional), step('b', optional), step('c', optional)],
      {},
      { onEvents: (each) => events.push(...each) },
    )
    enforcer.skipCurrentStep('not today')
    enforcer.failCurrentStep('broken')
    events.length = 0
    enforcer.finish('done')
    expect(events).toMatchObject([
      { type: 'step.skipped', step: 'c', by: 'finish', reason: 'the run was finished' },
      { type: 'run.finished', status: 'succeeded', message: 'done' },
    ])
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ status: 'skipped', by: 'host' })
    expect(enforcer.plan.getStepExecution('b')).toMatchObject({ status: 'failed', error: 'broken' })
  })

  it('G9: does not complete a last step whose when would not hold, or could not be judged', () => {
    const unreached = enforce([
      step('a', { required: false }),
      step('b', { expectedTools: [], when: 'steps.a.status == "completed"' }),
    ])
    expect(unreached.finish('done')).toMatchObject({ accepted: false, remaining: ['b'] })
    const undecided = enforce([step('a'), step('b', { expectedTools: [], when: 'result("a").ok' })])
    make(undecided, 'a')
    expect(undecided.finish('done')).toMatchObject({ accepted: false, remaining: ['b'] })
  })

  it('G9: does not pass an optional step that waits for a person', () => {
    const escalated = enforce([
      step('a', { required: false, maxToolCalls: 1, onLimit: 'escalate' }),
      step('b', { required: false }),
    ])
    make(escalated, 'a', { outcome: 'failed' })
    expect(escalated.finish('done')).toMatchObject({ accepted: false, remaining: ['a'] })
    const undecided = enforce([step('a'), step('b', { required: false, when: 'result("a").ok' })])
    make(undecided, 'a')
    expect(undecided.finish('done')).toMatchObject({ accepted: false, remaining: ['b'] })
  })

  it('G9: after the end, an answer and a turn leave nothing in the record, and the end as it was', () => {
    const events: RunEvent[] = []
    const enforcer = enforce([step('a')], {}, { finishAttempts: 0, onEvents: (each) => events.push(...each) })
    expect(enforcer.finish('first')).toMatchObject({ status: 'incomplete', remaining: ['a'] })
    const before = events.length
    expect(enforcer.finish('second')).toMatchObject({ status: 'incomplete', remaining: [] })
    expect(enforcer.beginIteration()).toBe(false)
    enforcer.end('cancelled', 'third')
    expect(events).toHaveLength(before)
    expect(enforcer.snapshot().state).toMatchObject({ message: 'first', finishRefusals: 1, iterations: 0 })
  })

  it('G9: after the end, what a call brings is kept and completes nothing', () => {
    const enforcer = enforce([step('a'), step('b')], {}, { finishAttempts: 0 })
    admit(enforcer, 'a')
    enforcer.finish()
    enforcer.recordToolCall('a', { result: 1 })
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ status: 'in_progress' })
    expect(enforcer.snapshot().state.tickets).toMatchObject([{ state: 'succeeded', result: 1 }])
  })
})

describe('a turn', () => {
  it('G8: counts no turn while a required step has failed or the run waits for a person', () => {
    const failed = enforce([step('a')], { maxIterations: 9 })
    expect(failed.beginIteration()).toBe(true)
    failed.failCurrentStep('no')
    expect(failed.beginIteration()).toBe(false)
    expect(failed.snapshot().state.iterations).toBe(1)
    const paused = enforce([step('a', { maxToolCalls: 1, onLimit: 'escalate' })], { maxIterations: 9 })
    make(paused, 'a', { outcome: 'failed' })
    expect(paused.beginIteration()).toBe(false)
    expect(paused.snapshot().state.iterations).toBe(0)
  })
})
