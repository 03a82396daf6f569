import { describe, expect, it } from 'vitest'
import { admit, enforce, forecast, make, phase, refusal, statuses, step } from './enforce.ts'

describe('only success is evidence', () => {
  it.each(['failed', 'unknown', 'not_executed'] as const)(
    'G6: a call that ended %s completes nothing',
    (outcome) => {
      const enforcer = enforce([step('a')])
      make(enforcer, 'a', { outcome })
      expect(statuses(enforcer)).toBe('a in_progress')
    },
  )

  it('G6: a call that is still open completes nothing', () => {
    const enforcer = enforce([step('a')])
    admit(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a in_progress')
  })

  it('G6: a failed call may be tried again', () => {
    const enforcer = enforce([step('a')])
    make(enforcer, 'a', { outcome: 'failed' })
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: an unknown outcome that turns out a success is evidence then', () => {
    const enforcer = enforce([step('a'), step('b')])
    make(enforcer, 'a', { outcome: 'unknown' })
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    enforcer.recordToolCall('a', { outcome: 'succeeded' })
    expect(statuses(enforcer)).toBe('a completed, b pending')
  })

  it('G6: a success recorded after another of unknown outcome does not complete the step before that is known', () => {
    const enforcer = enforce([step('a')])
    const { callId } = enforcer.validateToolCall('a')
    make(enforcer, 'a')
    enforcer.recordToolCall('a', { callId: callId!, outcome: 'unknown' })
    expect(statuses(enforcer)).toBe('a in_progress')
    enforcer.recordToolCall('a', { outcome: 'failed' })
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: successes of an earlier visit are no evidence in a later one', () => {
    const enforcer = enforce([step('a', { expectedTools: ['a1', 'a2'] })])
    make(enforcer, 'a1')
    enforcer.failCurrentStep('start over')
    enforcer.retryStep('a')
    make(enforcer, 'a2')
    expect(statuses(enforcer)).toBe('a in_progress')
    make(enforcer, 'a1')
    expect(statuses(enforcer)).toBe('a completed')
  })
})

describe('complete_when', () => {
  const both = { expectedTools: ['x', 'y', 'z'] }

  it('G6: all, the default, wants each named tool, in any order', () => {
    const enforcer = enforce([step('a', both)])
    make(enforcer, ['z', 'x', 'x'])
    expect(statuses(enforcer)).toBe('a in_progress')
    make(enforcer, 'y')
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: any wants one', () => {
    const enforcer = enforce([step('a', { ...both, completeWhen: 'any' })])
    make(enforcer, 'y')
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: a number wants that many different ones', () => {
    const enforcer = enforce([step('a', { ...both, completeWhen: 2 })])
    make(enforcer, ['y', 'y', 'y'])
    expect(statuses(enforcer)).toBe('a in_progress')
    make(enforcer, 'x')
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: declared waits for a declaration, whatever succeeded', () => {
    const enforcer = enforce([step('a', { ...both, completeWhen: 'declared' })])
    make(enforcer, ['x', 'y', 'z'])
    expect(statuses(enforcer)).toBe('a in_progress')
    enforcer.completeCurrentStep()
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: a condition decides by itself', () => {
    const enforcer = enforce([step('a', { ...both, completeWhen: 'calls >= 2 and results[1].ok' })])
    make(enforcer, 'x', { result: { ok: true } })
    make(enforcer, 'x', { result: { ok: false } })
    expect(statuses(enforcer)).toBe('a in_progress')
    const other = enforce([step('a', { ...both, completeWhen: 'calls >= 2 and results[1].ok' })])
    make(other, ['x', 'x'], { result: { ok: true } })
    expect(statuses(other)).toBe('a completed')
  })

  it('G6: a condition that cannot be evaluated is not true', () => {
    const enforcer = enforce([step('a', { completeWhen: 'results[0].ok' })])
    make(enforcer, 'a', { result: 'text' })
    expect(statuses(enforcer)).toBe('a in_progress')
  })

  it('G6: a condition is looked at after every outcome of the run, and when its step opens', () => {
    const enforcer = enforce(
      [step('a', { completeWhen: 'succeeded("x")' }), step('b', { completeWhen: 'calls == 0' })],
      {
        allowExtraTools: true,
      },
    )
    expect(statuses(enforcer)).toBe('a pending, b pending')
    make(enforcer, 'x')
    expect(statuses(enforcer)).toBe('a completed, b completed')
  })

  it('G6: a step that names tools and admits extras needs both its tools and a declaration', () => {
    const enforcer = enforce([step('a', { expectedTools: ['a', '*'] })])
    make(enforcer, ['x', 'a'])
    expect(statuses(enforcer)).toBe('a in_progress')
    enforcer.completeCurrentStep()
    expect(statuses(enforcer)).toBe('a completed')
  })
})

describe('validation', () => {
  it('G6: min_tool_calls counts succeeded calls alone', () => {
    const enforcer = enforce([step('a', { validation: { minToolCalls: 2 } })])
    make(enforcer, 'a', { outcome: 'failed' })
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a in_progress')
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: min_tool_calls of a "*" step includes extras', () => {
    const enforcer = enforce([step('a', { expectedTools: ['a', '*'], validation: { minToolCalls: 3 } })])
    make(enforcer, ['a', 'x'])
    expect(() => enforcer.completeCurrentStep()).toThrow(/2 of at least 3/)
    make(enforcer, 'y')
    expect(enforcer.completeCurrentStep()).toBe(false)
  })

  it('G6: required_result_keywords must all occur, ignoring case, over all results of the step', () => {
    const enforcer = enforce([step('a', { validation: { requiredResultKeywords: ['Passed', 'HEALTHY'] } })])
    make(enforcer, 'a', { result: 'tests PASSED: 12' })
    expect(statuses(enforcer)).toBe('a in_progress')
    make(enforcer, 'a', { result: { services: ['all healthy'] } })
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: keywords are looked for in results alone, not in arguments, errors or failed calls', () => {
    const enforcer = enforce([step('a', { validation: { requiredResultKeywords: ['passed'] } })])
    make(enforcer, 'a', { outcome: 'failed', result: 'passed', error: 'passed' }, { note: 'passed' })
    make(enforcer, 'a', {}, { note: 'passed' })
    expect(statuses(enforcer)).toBe('a in_progress')
  })

  it('G6: result_schema is held against the latest result', () => {
    const enforcer = enforce([
      step('a', {
        expectedTools: ['a1', 'a2'],
        validation: { resultSchema: { type: 'object', required: ['ok'] } },
      }),
    ])
    make(enforcer, 'a1', { result: { ok: 1 } })
    make(enforcer, 'a2', { result: 'nothing' })
    expect(statuses(enforcer)).toBe('a in_progress')
    make(enforcer, 'a1', { result: { ok: 1 } })
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G6: expression sees results, calls, inputs, steps and the past', () => {
    const enforcer = enforce(
      [
        step('a'),
        step('b', {
          validation: {
            expression:
              'calls == 1 and results[0] == inputs.want and steps.a.status == "completed" and succeeded("a")',
          },
        }),
      ],
      { inputs: { want: 'string' } },
      { inputs: { want: 'yes' } },
    )
    make(enforcer, 'a')
    make(enforcer, 'b', { result: 'yes' })
    expect(enforcer.isComplete).toBe(true)
  })

  it('G6: an expression that cannot be evaluated does not hold', () => {
    const enforcer = enforce([step('a', { validation: { expression: 'results[0].ok' } })])
    make(enforcer, 'a', { result: [] })
    expect(statuses(enforcer)).toBe('a in_progress')
  })

  it('G6: all of it must hold', () => {
    const validation = {
      minToolCalls: 1,
      requiredResultKeywords: ['ok'],
      resultSchema: { type: 'string' },
      expression: 'len(results[-1]) > 3',
    } as const
    for (const [result, completes] of [
      ['ok ok', true],
      ['fine', false],
      [['ok'], false],
      ['ok', false],
    ] as const) {
      const enforcer = enforce([step('a', { validation })])
      make(enforcer, 'a', { result })
      expect(statuses(enforcer)).toBe(completes ? 'a completed' : 'a in_progress')
    }
  })
})

describe('closing and lingering', () => {
  it('G6: without a cap a satisfied step closes at once', () => {
    const enforcer = enforce([step('a'), step('b')])
    make(enforcer, 'a')
    expect(phase(enforcer, 'a')).toBe('closed')
    expect(refusal(enforcer, 'a')).toBe('step_closed')
  })

  it('G6: with a cap its tools stay legal up to the cap', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b')])
    make(enforcer, ['a', 'a', 'a'])
    expect(refusal(enforcer, 'a')).toBe('max_tool_calls')
    expect(phase(enforcer, 'a')).toBe('closed')
  })

  it("G6: until a later step's call is admitted", () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b', { expectedTools: ['b1', 'b2'] })])
    make(enforcer, ['a', 'a', 'b1'])
    expect(phase(enforcer, 'a')).toBe('closed')
    expect(refusal(enforcer, 'a')).toBe('step_closed')
  })

  it('G6: a refused call of a later step closes nothing', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b'), step('c')])
    make(enforcer, 'a')
    expect(refusal(enforcer, 'c')).toBe('out_of_sequence')
    expect(phase(enforcer, 'a')).toBe('lingering')
  })

  it('G6: only steps that come before it close: another branch lingers on', () => {
    const enforcer = enforce([
      step('a', { maxToolCalls: 3 }),
      step('b', { maxToolCalls: 3 }),
      step('c', { after: 'a' }),
      step('d', { after: 'b' }),
    ])
    make(enforcer, ['a', 'b', 'c'])
    expect([phase(enforcer, 'a'), phase(enforcer, 'b')]).toEqual(['closed', 'lingering'])
  })

  it('G6: a lingering step closes when the step after it is done without a call', () => {
    for (const end of ['complete', 'skip', 'fail'] as const) {
      const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b', { required: false }), step('c')])
      make(enforcer, 'a')
      if (end === 'complete') enforcer.completeCurrentStep()
      else if (end === 'skip') enforcer.skipCurrentStep()
      else enforcer.failCurrentStep('no')
      expect(phase(enforcer, 'a')).toBe('closed')
    }
  })

  it('G6: a lingering step lingers on when the step after it does not apply', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b', { when: 'false' }), step('c')])
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a completed, b skipped, c pending')
    expect(phase(enforcer, 'a')).toBe('lingering')
    make(enforcer, 'a')
    make(enforcer, 'c')
    expect(phase(enforcer, 'a')).toBe('closed')
  })

  it('G6: a lingering step closes when the step after it is complete as soon as it opens', () => {
    const enforcer = enforce([
      step('a', { maxToolCalls: 3 }),
      step('b', { maxToolCalls: 3, completeWhen: 'succeeded("a")' }),
      step('c'),
    ])
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a completed, b completed, c pending')
    expect(phase(enforcer, 'a')).toBe('closed')
    expect(phase(enforcer, 'b')).toBe('lingering')
  })

  it('G6 (E4): a lingering step that takes another call is in progress again, and what comes after waits', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b')])
    make(enforcer, 'a')
    admit(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a in_progress, b pending')
    expect(enforcer.currentStep?.id).toBe('a')
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    enforcer.recordToolCall('a')
    expect(statuses(enforcer)).toBe('a completed, b pending')
    expect(refusal(enforcer, 'b')).toBeNull()
  })

  it('G6 (E4): until its call is known to have failed, or not to have been executed', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b')])
    make(enforcer, 'a')
    make(enforcer, 'a', { outcome: 'unknown' })
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    enforcer.recordToolCall('a', { outcome: 'not_executed' })
    expect(statuses(enforcer)).toBe('a completed, b pending')
    expect(phase(enforcer, 'a')).toBe('lingering')
  })

  it('G6 (E4): another call can take its completion away, where validation speaks of the latest result', () => {
    const enforcer = enforce([
      step('a', { maxToolCalls: 3, validation: { resultSchema: { const: 'good' } } }),
      step('b'),
    ])
    make(enforcer, 'a', { result: 'good' })
    make(enforcer, 'a', { result: 'bad' })
    expect(statuses(enforcer)).toBe('a in_progress, b pending')
    expect(forecast(enforcer, 'b')).toBe('out_of_sequence')
    make(enforcer, 'a', { result: 'good' })
    expect(statuses(enforcer)).toBe('a completed, b pending')
  })

  it('G6: a step completed by declaration or by a limit does not linger', () => {
    const declared = enforce([step('a', { maxToolCalls: 3, completeWhen: 'declared' }), step('b')])
    make(declared, 'a')
    declared.completeCurrentStep()
    expect(phase(declared, 'a')).toBe('closed')
    const byHost = enforce([step('a', { maxToolCalls: 3 }), step('b')])
    byHost.completeCurrentStep()
    expect(phase(byHost, 'a')).toBe('closed')
  })

  it('G6: a step never completes with open tickets', () => {
    const enforcer = enforce([step('a', { completeWhen: 'any', expectedTools: ['x', 'y'] }), step('b')])
    admit(enforcer, 'y')
    make(enforcer, 'x')
    expect(statuses(enforcer)).toBe('a in_progress, b pending')
    enforcer.recordToolCall('y', { outcome: 'failed' })
    expect(statuses(enforcer)).toBe('a completed, b pending')
  })

  it('G6: the run is not complete while any ticket is open, that of an extra included', () => {
    const enforcer = enforce([step('a')], { allowExtraTools: true })
    admit(enforcer, 'x')
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a completed')
    expect(enforcer.isComplete).toBe(false)
    enforcer.recordToolCall('x', { outcome: 'unknown' })
    expect(enforcer.isComplete).toBe(false)
    enforcer.recordToolCall('x', { outcome: 'failed' })
    expect(enforcer.isComplete).toBe(true)
  })
})
