import { describe, expect, it } from 'vitest'
import { admit, enforce, make, phase, refusal, statuses, step } from './enforce.ts'

describe('whose call it is', () => {
  it('G4: the earliest open step that names the tool', () => {
    const enforcer = enforce(
      [step('a', { expectedTools: ['t', 'u'] }), step('b', { expectedTools: ['t'] })],
      { strictSequence: false },
    )
    make(enforcer, 't')
    expect(enforcer.plan.getStepExecution('a')?.toolCalls).toEqual(['t'])
    expect(enforcer.plan.getStepExecution('b')).toBeNull()
  })

  it('G4: it stays with that step until the step is complete', () => {
    const enforcer = enforce(
      [step('a', { expectedTools: ['t', 'u'] }), step('b', { expectedTools: ['t'] })],
      { strictSequence: false },
    )
    make(enforcer, ['t', 't', 'u'])
    expect(statuses(enforcer)).toBe('a completed, b pending')
    make(enforcer, 't')
    expect(enforcer.plan.getStepExecution('b')?.toolCalls).toEqual(['t'])
    expect(enforcer.isComplete).toBe(true)
  })

  it('G4: an open step comes before one that lingers', () => {
    const enforcer = enforce([
      step('a', { expectedTools: ['t'], maxToolCalls: 3 }),
      step('b', { expectedTools: ['t'] }),
    ])
    make(enforcer, 't')
    expect(phase(enforcer, 'a')).toBe('lingering')
    expect(admit(enforcer, 't').currentStep?.id).toBe('b')
  })

  it('G4: else the latest of the complete steps that linger', () => {
    const enforcer = enforce(
      [
        step('a', { expectedTools: ['t'], maxToolCalls: 3 }),
        step('b', { expectedTools: ['t'], maxToolCalls: 3 }),
        step('c'),
      ],
      { strictSequence: false },
    )
    make(enforcer, ['t', 't'])
    expect([phase(enforcer, 'a'), phase(enforcer, 'b')]).toEqual(['lingering', 'lingering'])
    expect(admit(enforcer, 't').currentStep?.id).toBe('b')
  })

  it('G4: a step that lingers comes before one that is reached by passing over', () => {
    const enforcer = enforce([
      step('a', { expectedTools: ['t'], maxToolCalls: 3 }),
      step('b', { required: false }),
      step('c', { expectedTools: ['t'] }),
    ])
    make(enforcer, 't')
    expect(admit(enforcer, 't').currentStep?.id).toBe('a')
    expect(statuses(enforcer)).toBe('a in_progress, b pending, c pending')
  })

  it('G4: where the lingering step has spent its cap, the call goes on to a later step', () => {
    const enforcer = enforce([
      step('a', { expectedTools: ['t'], maxToolCalls: 2 }),
      step('b', { required: false }),
      step('c', { expectedTools: ['t'] }),
    ])
    make(enforcer, ['t', 't'])
    expect(admit(enforcer, 't').currentStep?.id).toBe('c')
    expect(statuses(enforcer)).toBe('a completed, b skipped, c in_progress')
  })

  it('G4: a call has one owner: the second step is not credited for it', () => {
    const enforcer = enforce([step('a', { expectedTools: ['t'] }), step('b', { expectedTools: ['t'] })])
    make(enforcer, 't')
    expect(statuses(enforcer)).toBe('a completed, b pending')
  })

  it('G4: the owner is found at admission, not when the outcome is recorded', () => {
    const enforcer = enforce(
      [step('a', { expectedTools: ['t', 'u'] }), step('b', { expectedTools: ['t'] })],
      { strictSequence: false },
    )
    admit(enforcer, 't')
    enforcer.failCurrentStep('gave up')
    enforcer.recordToolCall('t')
    expect(enforcer.plan.getStepExecution('a')?.toolCalls).toEqual(['t'])
    expect(statuses(enforcer)).toBe('a failed, b pending')
  })

  it('G4: an open step whose predecessor took up another call does not own the call', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b')])
    make(enforcer, 'a')
    admit(enforcer, 'a')
    expect(phase(enforcer, 'b')).toBe('open')
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
  })
})

describe('why a call has no owner', () => {
  it('G4: out_of_sequence while a step that names the tool is still to come', () => {
    const enforcer = enforce([
      step('a', { expectedTools: ['t'] }),
      step('b'),
      step('c', { expectedTools: ['t'] }),
    ])
    make(enforcer, 't')
    expect(refusal(enforcer, 't')).toBe('out_of_sequence')
  })

  it('G4: max_tool_calls when the step that names it was completed with its cap spent', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 }), step('b')])
    make(enforcer, 'a')
    expect(refusal(enforcer, 'a')).toBe('max_tool_calls')
  })

  it('G4: step_closed when it is over: completed without a cap, skipped, or an optional one that failed', () => {
    const enforcer = enforce([
      step('a'),
      step('b', { required: false }),
      step('c', { required: false }),
      step('d'),
    ])
    make(enforcer, 'a')
    enforcer.skipCurrentStep()
    enforcer.failCurrentStep('no')
    for (const tool of ['a', 'b', 'c']) expect(refusal(enforcer, tool)).toBe('step_closed')
  })

  it('G4: playbook_complete when everything is done', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 })])
    make(enforcer, 'a')
    expect(refusal(enforcer, 'a')).toBe('playbook_complete')
  })

  it('G4: after completion a step that lingers still takes calls up to its cap, and the run is open meanwhile', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2 })])
    make(enforcer, 'a')
    expect(enforcer.isComplete).toBe(true)
    admit(enforcer, 'a')
    expect(enforcer.isComplete).toBe(false)
    enforcer.recordToolCall('a', { outcome: 'failed' })
    expect(enforcer.isComplete).toBe(true)
    expect(refusal(enforcer, 'a')).toBe('playbook_complete')
  })
})
