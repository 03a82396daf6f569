import { describe, expect, it } from 'vitest'
import { admit, enforce, fakeClock, forecast, make, phase, refusal, statuses, step } from './enforce.ts'

const two = { expectedTools: ['x', 'y'] }

describe('max_tool_calls', () => {
  it('G8: a cap used up without completing fails the step by default', () => {
    const enforcer = enforce([step('a', { ...two, maxToolCalls: 2 }), step('b')])
    make(enforcer, ['x', 'x'])
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ status: 'failed', by: 'limit' })
    expect(enforcer.plan.errors).toEqual(['Step a: used its 2 calls without completing'])
    expect(refusal(enforcer, 'b')).toBe('step_failed')
  })

  it('G8: is never a success: failures that use it up fail the step', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2 }), step('b')])
    make(enforcer, ['a', 'a'], { outcome: 'failed' })
    expect(statuses(enforcer)).toBe('a failed, b pending')
  })

  it('G8: the last call of the cap may still complete the step', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2 }), step('b')])
    make(enforcer, 'a', { outcome: 'failed' })
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a completed, b pending')
  })

  it('G8: every admitted call takes a slot, whatever becomes of it; only not_executed gives it back', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2, completeWhen: 'declared' })])
    admit(enforcer, 'a')
    admit(enforcer, 'a')
    expect(refusal(enforcer, 'a')).toBe('max_tool_calls')
    enforcer.recordToolCall('a', { outcome: 'failed' })
    expect(refusal(enforcer, 'a')).toBe('max_tool_calls')
    enforcer.recordToolCall('a', { outcome: 'not_executed' })
    expect(refusal(enforcer, 'a')).toBeNull()
  })

  it('G8: a call of unknown outcome that turns out not executed gives its slot back too', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 })])
    make(enforcer, 'a', { outcome: 'unknown' })
    expect(refusal(enforcer, 'a')).toBe('outcome_unknown')
    enforcer.recordToolCall('a', { outcome: 'not_executed' })
    make(enforcer, 'a')
    expect(enforcer.isComplete).toBe(true)
  })

  it('G8: nothing is decided while a call of the step is open', () => {
    const enforcer = enforce([step('a', { ...two, maxToolCalls: 2 })])
    admit(enforcer, 'x')
    make(enforcer, 'x')
    expect(statuses(enforcer)).toBe('a in_progress')
    expect(refusal(enforcer, 'y')).toBe('max_tool_calls')
    enforcer.recordToolCall('x', { outcome: 'unknown' })
    expect(statuses(enforcer)).toBe('a in_progress')
    enforcer.recordToolCall('x')
    expect(statuses(enforcer)).toBe('a failed')
  })

  it('G8: escalate pauses the run for a person', () => {
    const enforcer = enforce([step('a', { ...two, maxToolCalls: 2, onLimit: 'escalate' }), step('b')], {
      allowExtraTools: true,
    })
    make(enforcer, ['x', 'x'])
    expect(phase(enforcer, 'a')).toBe('escalated')
    expect(enforcer.currentStep?.id).toBe('a')
    for (const tool of ['x', 'y', 'b', 'extra']) expect(refusal(enforcer, tool)).toBe('run_paused')
  })

  it('G8: an escalated step can be retried, completed, failed or, if optional, skipped by the host', () => {
    const escalated = (required: boolean) => {
      const enforcer = enforce([
        step('a', { ...two, required, maxToolCalls: 2, onLimit: 'escalate' }),
        step('b'),
      ])
      make(enforcer, ['x', 'x'])
      return enforcer
    }
    const retried = escalated(true)
    retried.retryStep('a', 'try again')
    expect(refusal(retried, 'x')).toBeNull()
    const completed = escalated(true)
    completed.completeCurrentStep()
    expect(refusal(completed, 'b')).toBeNull()
    const failed = escalated(true)
    failed.failCurrentStep('no')
    expect(refusal(failed, 'b')).toBe('step_failed')
    const skipped = escalated(false)
    expect(skipped.skipCurrentStep()).toBe(true)
    expect(refusal(skipped, 'b')).toBeNull()
  })

  it('G8: advance moves on if validation holds, and is recorded by: limit', () => {
    const enforcer = enforce([
      step('a', { ...two, maxToolCalls: 2, onLimit: 'advance', validation: { minToolCalls: 1 } }),
      step('b'),
    ])
    make(enforcer, ['x', 'x'])
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({
      status: 'completed',
      by: 'limit',
      phase: 'closed',
    })
    expect(refusal(enforcer, 'b')).toBeNull()
  })

  it('G8: advance fails the step if validation does not hold', () => {
    const enforcer = enforce([
      step('a', { ...two, maxToolCalls: 2, onLimit: 'advance', validation: { minToolCalls: 1 } }),
      step('b'),
    ])
    make(enforcer, ['x', 'x'], { outcome: 'failed' })
    expect(statuses(enforcer)).toBe('a failed, b pending')
  })

  it('G8: where nothing but a declaration is missing, the step stays open for it', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1, completeWhen: 'declared' }), step('b')])
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a in_progress, b pending')
    const result = enforcer.validateToolCall('a')
    expect(result.code).toBe('max_tool_calls')
    expect(result.hints.join(' ')).toContain('Declare step')
    enforcer.completeCurrentStep()
    expect(statuses(enforcer)).toBe('a completed, b pending')
  })

  it('G8: with advance, a cap used up completes a step that lacks only a declaration', () => {
    const enforcer = enforce([
      step('a', { maxToolCalls: 1, completeWhen: 'declared', onLimit: 'advance' }),
      step('b'),
    ])
    make(enforcer, 'a')
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ status: 'completed', by: 'limit' })
  })

  it('G8: an optional step that fails by its cap is met, and the run goes on', () => {
    const enforcer = enforce([step('a', { required: false, maxToolCalls: 1 }), step('b')])
    make(enforcer, 'a', { outcome: 'failed' })
    make(enforcer, 'b')
    expect(statuses(enforcer)).toBe('a failed, b completed')
    expect(enforcer.isComplete).toBe(true)
  })

  it('G8: the hints after a refusal say what the step lacks', () => {
    const enforcer = enforce([step('a', { ...two, maxToolCalls: 2 })])
    admit(enforcer, 'x')
    admit(enforcer, 'x')
    const result = enforcer.validateToolCall('y')
    expect(result.code).toBe('max_tool_calls')
    expect(result.hints.join(' ')).toContain('still to succeed: x, y')
  })
})

describe('timeout_seconds', () => {
  it('G8: fails the step when its active time is reached', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { timeoutSeconds: 10 }), step('b')], {}, { clock })
    clock.pass(9.999)
    expect(forecast(enforcer, 'a')).toBeNull()
    clock.pass(0.001)
    expect(refusal(enforcer, 'a')).toBe('step_failed')
    expect(enforcer.plan.errors).toEqual(['Step a: took longer than 10 s'])
  })

  it('G8: is noticed without a call by checkTime', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { timeoutSeconds: 10 })], {}, { clock })
    clock.pass(10)
    expect(statuses(enforcer)).toBe('a pending')
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a failed')
  })

  it('G8: counts from when the step is current, not from the start of the run', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a'), step('b', { timeoutSeconds: 10 })], {}, { clock })
    clock.pass(100)
    make(enforcer, 'a')
    clock.pass(9)
    expect(forecast(enforcer, 'b')).toBeNull()
    clock.pass(1)
    expect(forecast(enforcer, 'b')).toBe('step_failed')
  })

  it('G8: counts from the first call of a step that is not current', () => {
    const clock = fakeClock()
    const enforcer = enforce(
      [step('a'), step('b', { ...two, timeoutSeconds: 10 })],
      { strictSequence: false },
      { clock },
    )
    clock.pass(100)
    make(enforcer, 'x')
    clock.pass(9)
    expect(forecast(enforcer, 'y')).toBeNull()
    clock.pass(1)
    expect(forecast(enforcer, 'y')).toBe('step_failed')
  })

  it('G8: does not count for a step that is open and neither current nor begun', () => {
    const clock = fakeClock()
    const enforcer = enforce(
      [step('a'), step('b', { timeoutSeconds: 10 })],
      { strictSequence: false },
      { clock },
    )
    clock.pass(100)
    expect(forecast(enforcer, 'b')).toBeNull()
  })

  it('G8: stops when the step is done', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { timeoutSeconds: 10 }), step('b')], {}, { clock })
    make(enforcer, 'a')
    clock.pass(100)
    expect(refusal(enforcer, 'b')).toBeNull()
    expect(statuses(enforcer)).toBe('a completed, b in_progress')
  })

  it('G8: goes on where it left off when a lingering step takes another call', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { timeoutSeconds: 10, maxToolCalls: 5 }), step('b')], {}, { clock })
    clock.pass(6)
    make(enforcer, 'a')
    clock.pass(100)
    admit(enforcer, 'a')
    clock.pass(3)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a in_progress, b pending')
    clock.pass(1)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a failed, b pending')
  })

  it('G8: stands still while the run is paused or failed', () => {
    const clock = fakeClock()
    const enforcer = enforce(
      [
        step('a', { ...two, maxToolCalls: 2, onLimit: 'escalate' }),
        step('b', { expectedTools: ['b1', 'b2'], timeoutSeconds: 10 }),
      ],
      { strictSequence: false },
      { clock },
    )
    make(enforcer, 'b1')
    clock.pass(6)
    make(enforcer, ['x', 'x'])
    clock.pass(1000)
    enforcer.failCurrentStep('no')
    clock.pass(1000)
    enforcer.retryStep('a')
    clock.pass(3)
    expect(forecast(enforcer, 'b2')).toBeNull()
    clock.pass(1)
    expect(forecast(enforcer, 'b2')).toBe('step_failed')
  })

  it('G8: a clock that goes back gives nobody more time than the run has seen', () => {
    let now = 100_000
    const enforcer = enforce([step('a', { ...two, timeoutSeconds: 10 })], {}, { clock: () => now })
    now = 109_000
    make(enforcer, 'x')
    now = 0
    expect(forecast(enforcer, 'y')).toBeNull()
    now = 110_000
    expect(forecast(enforcer, 'y')).toBe('step_failed')
    now = 0
    make(enforcer, 'y')
    const times = enforcer.plan.getStepExecution('a')!.calls.map(({ admittedAt }) => admittedAt.getTime())
    expect(times).toEqual([109_000, 109_000])
  })

  it('G8: with escalate it pauses, with advance it completes if validation holds and no call is open, else it fails', () => {
    const ended = (onLimit: 'escalate' | 'advance', before: 'nothing' | 'success' | 'open') => {
      const clock = fakeClock()
      const enforcer = enforce(
        [step('a', { ...two, timeoutSeconds: 10, onLimit, validation: { minToolCalls: 1 } }), step('b')],
        {},
        { clock },
      )
      if (before !== 'nothing') make(enforcer, 'x')
      if (before === 'open') admit(enforcer, 'y')
      clock.pass(10)
      enforcer.checkTime()
      const { status, phase } = enforcer.snapshot().state.activations[0]!
      return `${status}, ${phase}`
    }
    expect(ended('escalate', 'nothing')).toBe('pending, escalated')
    expect(ended('escalate', 'open')).toBe('in_progress, escalated')
    expect(ended('advance', 'nothing')).toBe('failed, closed')
    expect(ended('advance', 'success')).toBe('completed, closed')
    expect(ended('advance', 'open')).toBe('failed, closed')
  })

  it('G8: the record says that a step is escalated, even if it never took a call', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { timeoutSeconds: 10, onLimit: 'escalate' })], {}, { clock })
    clock.pass(10)
    enforcer.checkTime()
    expect(enforcer.plan.executions[0]).toMatchObject({ stepId: 'a', status: 'pending', phase: 'escalated' })
  })

  it('G8: a call in flight when its step times out can still be settled', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { required: false, timeoutSeconds: 10 }), step('b')], {}, { clock })
    admit(enforcer, 'a')
    clock.pass(10)
    enforcer.recordToolCall('a')
    expect(statuses(enforcer)).toBe('a failed, b pending')
    expect(enforcer.plan.getStepExecution('a')?.calls[0]?.outcome).toBe('succeeded')
    make(enforcer, 'b')
    expect(enforcer.isComplete).toBe(true)
  })

  it('G8: two steps out of time at once both fail', () => {
    const clock = fakeClock()
    const enforcer = enforce(
      [
        step('a', { ...two, required: false, timeoutSeconds: 5 }),
        step('b', { expectedTools: ['b1', 'b2'], required: false, timeoutSeconds: 5 }),
      ],
      { strictSequence: false },
      { clock },
    )
    make(enforcer, ['x', 'b1'])
    clock.pass(5)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a failed, b failed')
  })
})

describe('max_iterations', () => {
  const run = (onLimit: 'fail' | 'escalate' | 'advance') => {
    const enforcer = enforce([step('a', { onLimit }), step('b')], { maxIterations: 2 })
    expect(enforcer.beginIteration()).toBe(true)
    expect(enforcer.beginIteration()).toBe(true)
    expect(enforcer.beginIteration()).toBe(false)
    return enforcer
  }

  it('G8: the one too many fails the current step', () => {
    const enforcer = run('fail')
    expect(statuses(enforcer)).toBe('a failed, b pending')
    expect(enforcer.plan.errors).toEqual(['Step a: the run took more than 2 iterations'])
    expect(refusal(enforcer, 'a')).toBe('step_failed')
    expect(enforcer.beginIteration()).toBe(false)
  })

  it('G8: or escalates it', () => {
    const enforcer = run('escalate')
    expect(phase(enforcer, 'a')).toBe('escalated')
    expect(enforcer.beginIteration()).toBe(false)
  })

  it('G8: advance counts as fail, because no step can be advanced past the end of the turns', () => {
    expect(statuses(run('advance'))).toBe('a failed, b pending')
  })

  it('G8: there is no limit where none is set, and none once everything is done', () => {
    const free = enforce([step('a')])
    for (let n = 0; n < 1000; n++) expect(free.beginIteration()).toBe(true)
    const done = enforce([step('a')], { maxIterations: 1 })
    make(done, 'a')
    expect(done.beginIteration()).toBe(true)
    expect(done.beginIteration()).toBe(true)
  })
})

describe('no state is a dead end', () => {
  it('G8: a failed required step stops the run until it is retried, and the retry is recorded', () => {
    const events: string[] = []
    const enforcer = enforce(
      [step('a'), step('b')],
      {},
      { onEvents: (batch) => events.push(...batch.map(({ type }) => type)) },
    )
    enforcer.failCurrentStep('no')
    expect(enforcer.currentStep?.id).toBe('a')
    enforcer.retryStep('a', 'the order exists after all')
    expect(events).toContain('step.retried')
    make(enforcer, ['a', 'b'])
    expect(enforcer.isComplete).toBe(true)
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ visit: 2, status: 'completed', error: null })
    expect(enforcer.plan.getStepExecution('a')?.earlierVisits).toMatchObject([
      { visit: 1, status: 'failed', error: 'no' },
    ])
    expect(enforcer.plan.errors).toEqual(['Step a: no'])
  })

  it('G8: a retry begins with a fresh cap, fresh time and no evidence', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { ...two, maxToolCalls: 2, timeoutSeconds: 10 })], {}, { clock })
    clock.pass(9)
    make(enforcer, ['x', 'x'])
    expect(statuses(enforcer)).toBe('a failed')
    enforcer.retryStep('a')
    clock.pass(9)
    make(enforcer, 'y')
    expect(statuses(enforcer)).toBe('a in_progress')
    make(enforcer, 'x')
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G8: a retry is refused while a call of the step is open', () => {
    const enforcer = enforce([step('a')])
    admit(enforcer, 'a')
    enforcer.failCurrentStep('no')
    expect(() => enforcer.retryStep('a')).toThrow(
      expect.objectContaining({
        code: 'step_not_retryable',
        message: expect.stringContaining('not settled') as string,
      }),
    )
    enforcer.recordToolCall('a', { outcome: 'unknown' })
    expect(() => enforcer.retryStep('a')).toThrow(/unknown/)
    enforcer.recordToolCall('a', { outcome: 'failed' })
    enforcer.retryStep('a')
    expect(statuses(enforcer)).toBe('a pending')
  })

  it('G8: a retry is refused when a step after it has begun', () => {
    const enforcer = enforce([step('a', { required: false }), step('b', two)])
    enforcer.failCurrentStep('no')
    make(enforcer, 'x')
    expect(() => enforcer.retryStep('a')).toThrow(/after it has begun/)
  })

  it('G8: an optional step that failed can be retried before anything after it begins, which then waits again', () => {
    const enforcer = enforce([step('a', { required: false, expectedTools: ['x', 'y'] }), step('b')])
    enforcer.failCurrentStep('no')
    enforcer.retryStep('a')
    expect(enforcer.currentStep?.id).toBe('a')
    admit(enforcer, 'x')
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    expect(enforcer.isComplete).toBe(false)
  })

  it('G8: only what failed or waits for a person can be retried, and only a step there is', () => {
    const enforcer = enforce([step('alpha'), step('beta')])
    make(enforcer, 'alpha')
    for (const id of ['alpha', 'beta']) {
      expect(() => enforcer.retryStep(id)).toThrow(expect.objectContaining({ code: 'step_not_retryable' }))
    }
    expect(() => enforcer.retryStep('alpa')).toThrow(
      expect.objectContaining({ code: 'unknown_step', hint: "Did you mean 'alpha'?" }),
    )
  })

  it('G8: nothing is retried after the end of the run', () => {
    const enforcer = enforce([step('a')])
    enforcer.failCurrentStep('no')
    expect(enforcer.finish().status).toBe('failed')
    expect(() => enforcer.retryStep('a')).toThrow(/ended/)
  })
})

describe('what a refusal says', () => {
  it('G8: it names the step that failed, not the one that is open', () => {
    const enforcer = enforce([step('a'), step('b', { maxToolCalls: 1 })], { strictSequence: false })
    make(enforcer, 'b', { outcome: 'failed' })
    const result = enforcer.validateToolCall('a')
    expect(result.code).toBe('step_failed')
    expect(result.violation?.message).toContain("'b'")
  })

  it('G8: it names the required step that failed, not an optional one before it', () => {
    const enforcer = enforce([step('a', { required: false }), step('b')])
    enforcer.failCurrentStep('no')
    enforcer.failCurrentStep('no')
    expect(enforcer.validateToolCall('b').violation?.message).toContain("'b'")
  })

  it('G8: it names the step that waits for a person, not the one that is open', () => {
    const enforcer = enforce(
      [step('a'), step('b', { expectedTools: ['x', 'y'], maxToolCalls: 2, onLimit: 'escalate' })],
      { strictSequence: false },
    )
    make(enforcer, ['x', 'x'])
    const result = enforcer.validateToolCall('a')
    expect(result.code).toBe('run_paused')
    expect(result.violation?.message).toContain("'b'")
  })
})
