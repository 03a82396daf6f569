import { describe, expect, it } from 'vitest'
import { admit, enforce, forecast, make, refusal, statuses, step } from './enforce.ts'

describe('the tools of a step', () => {
  it('G2: a step without expected tools takes no tool', () => {
    const enforcer = enforce([step('talk', { expectedTools: [] }), step('b')])
    expect(refusal(enforcer, 'anything')).toBe('unexpected_tool')
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
  })

  it('G2: a tool that another step names obeys the order, even where extra tools are allowed', () => {
    const enforcer = enforce([step('a'), step('b')], { allowExtraTools: true })
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
  })

  it('G2: a tool that another step names is no extra for a step with "*"', () => {
    const enforcer = enforce([step('a', { expectedTools: ['*'] }), step('b')])
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    expect(refusal(enforcer, 'x')).toBeNull()
  })

  it('G2: a tool named by an earlier, closed step is refused as step_closed, not admitted as an extra', () => {
    const enforcer = enforce([step('a'), step('b')], { allowExtraTools: true })
    make(enforcer, 'a')
    expect(refusal(enforcer, 'a')).toBe('step_closed')
  })

  it('G2: "*" admits extras while its step is open, and not before or after', () => {
    const enforcer = enforce([step('a'), step('free', { expectedTools: ['*'] }), step('c')])
    expect(refusal(enforcer, 'x')).toBe('unexpected_tool')
    make(enforcer, 'a')
    expect(refusal(enforcer, 'x')).toBeNull()
    enforcer.recordToolCall('x')
    enforcer.completeCurrentStep()
    expect(refusal(enforcer, 'x')).toBe('unexpected_tool')
  })

  it('G2: a "*" step that is held back by a call before it admits no extra meanwhile', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('free', { expectedTools: ['*'] })])
    make(enforcer, 'a')
    admit(enforcer, 'a')
    expect(refusal(enforcer, 'x')).toBe('unexpected_tool')
    enforcer.recordToolCall('a')
    expect(refusal(enforcer, 'x')).toBeNull()
  })

  it('G2: an extra belongs to the earliest open step with "*", else to no step', () => {
    const enforcer = enforce(
      [step('a'), step('b', { expectedTools: ['*'] }), step('c', { expectedTools: ['*'] })],
      { strictSequence: false, allowExtraTools: true },
    )
    expect(admit(enforcer, 'x').currentStep?.id).toBe('b')
    enforcer.recordToolCall('x')
    expect(enforcer.plan.getStepExecution('b')?.toolCalls).toEqual(['x'])
    const outside = enforce([step('a')], { allowExtraTools: true })
    make(outside, 'x')
    expect(outside.plan.totalToolCalls).toBe(1)
    expect(outside.plan.getStepExecution('a')).toBeNull()
  })
})

describe('extras', () => {
  it('G2: an extra completes nothing, whatever it returns', () => {
    const enforcer = enforce([step('a', { validation: { requiredResultKeywords: ['fine'] } })], {
      allowExtraTools: true,
    })
    make(enforcer, 'x', { result: 'fine' })
    expect(statuses(enforcer)).toBe('a pending')
    make(enforcer, 'a', { result: 'so so' })
    expect(statuses(enforcer)).toBe('a in_progress')
  })

  it('G2: an extra does not take a slot of the current step, nor start it', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 })], { allowExtraTools: true })
    make(enforcer, ['x', 'x', 'x'])
    expect(enforcer.plan.getStepExecution('a')).toBeNull()
    expect(refusal(enforcer, 'a')).toBeNull()
  })

  it('G2: extras are recorded: they count in the total and can be asked about', () => {
    const enforcer = enforce([step('a')], {
      allowExtraTools: true,
      rules: [{ tool: 'a', require: 'succeeded("search", topic=args.topic)' }],
    })
    make(enforcer, 'search', {}, { topic: 'tea' })
    expect(enforcer.plan.totalToolCalls).toBe(1)
    expect(forecast(enforcer, 'a', { topic: 'coffee' })).toBe('rule')
    expect(forecast(enforcer, 'a', { topic: 'tea' })).toBeNull()
  })

  it('G2: max_extra_calls limits the extras of the run, and not the named tools', () => {
    const enforcer = enforce([step('a')], { allowExtraTools: true, maxExtraCalls: 2 })
    make(enforcer, ['x', 'y'])
    expect(refusal(enforcer, 'x')).toBe('max_extra_calls')
    expect(refusal(enforcer, 'a')).toBeNull()
  })

  it('G2: max_extra_calls counts calls that failed or are in flight, and not those that were not executed', () => {
    const enforcer = enforce([step('a')], { allowExtraTools: true, maxExtraCalls: 1 })
    admit(enforcer, 'x')
    expect(refusal(enforcer, 'y')).toBe('max_extra_calls')
    enforcer.recordToolCall('x', { outcome: 'not_executed' })
    make(enforcer, 'x', { outcome: 'failed' })
    expect(refusal(enforcer, 'y')).toBe('max_extra_calls')
  })

  it('G2: max_extra_calls: 0 admits none', () => {
    const enforcer = enforce([step('a')], { allowExtraTools: true, maxExtraCalls: 0 })
    expect(refusal(enforcer, 'x')).toBe('max_extra_calls')
  })

  it('G2: extras in a "*" step count in the step as well as towards max_extra_calls', () => {
    const enforcer = enforce([step('free', { expectedTools: ['*'], maxToolCalls: 2 })], { maxExtraCalls: 3 })
    make(enforcer, ['x', 'y'])
    expect(refusal(enforcer, 'z')).toBe('max_tool_calls')
    const other = enforce([step('free', { expectedTools: ['*'], maxToolCalls: 5 })], { maxExtraCalls: 1 })
    make(other, 'x')
    expect(refusal(other, 'y')).toBe('max_extra_calls')
  })

  it('G2: where a "*" step has spent its cap, an extra does not fall through to no step', () => {
    const enforcer = enforce([step('free', { expectedTools: ['*'], maxToolCalls: 1 })], {
      allowExtraTools: true,
    })
    make(enforcer, 'x')
    expect(refusal(enforcer, 'y')).toBe('max_tool_calls')
  })

  it('G2: extras pass the rules of the playbook and the arguments of their "*" step', () => {
    const enforcer = enforce(
      [step('free', { expectedTools: ['*'], arguments: { x: { require: 'args.n == 1' } } })],
      { rules: [{ tool: 'y', require: 'args.n == 2' }] },
    )
    expect(refusal(enforcer, 'x', { n: 2 })).toBe('argument_rule')
    expect(refusal(enforcer, 'y', { n: 1 })).toBe('rule')
    expect(refusal(enforcer, 'x', { n: 1 })).toBeNull()
    expect(refusal(enforcer, 'y', { n: 2 })).toBeNull()
  })

  it('G2: after completion an extra is still allowed where extra tools are, and refused as too late elsewhere', () => {
    const open = enforce([step('a')], { allowExtraTools: true })
    make(open, 'a')
    expect(open.isComplete).toBe(true)
    expect(refusal(open, 'x')).toBeNull()
    expect(open.isComplete).toBe(false)
    open.recordToolCall('x')
    expect(open.isComplete).toBe(true)
    const closed = enforce([step('a')])
    make(closed, 'a')
    expect(refusal(closed, 'x')).toBe('playbook_complete')
  })
})
