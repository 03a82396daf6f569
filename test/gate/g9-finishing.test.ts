import { describe, expect, it } from 'vitest'
import { admit, enforce, make, refusal, statuses, step } from './enforce.ts'

describe('a final answer', () => {
  it('G9: is accepted when every step is done', () => {
    const enforcer = enforce([step('a')])
    make(enforcer, 'a')
    expect(enforcer.finish('done')).toEqual({
      accepted: true,
      status: 'succeeded',
      remaining: [],
      unsettled: [],
    })
    expect(enforcer.status).toBe('succeeded')
  })

  it('G9: with required steps open is sent back with what remains', () => {
    const enforcer = enforce([step('a'), step('b', { required: false }), step('c')])
    make(enforcer, 'a')
    expect(enforcer.finish('done')).toEqual({
      accepted: false,
      status: null,
      remaining: ['c'],
      unsettled: [],
    })
    expect(enforcer.status).toBeNull()
    expect(refusal(enforcer, 'c')).toBeNull()
  })

  it('G9: after two such tries the run ends incomplete, never succeeded', () => {
    const enforcer = enforce([step('a')])
    expect(enforcer.finish().status).toBeNull()
    expect(enforcer.finish().status).toBeNull()
    expect(enforcer.finish()).toMatchObject({ accepted: false, status: 'incomplete', remaining: ['a'] })
    expect(refusal(enforcer, 'a')).toBe('run_ended')
    expect(enforcer.finish()).toMatchObject({ accepted: false, status: 'incomplete' })
  })

  it('G9: the number of tries can be set', () => {
    const none = enforce([step('a')], {}, { finishAttempts: 0 })
    expect(none.finish().status).toBe('incomplete')
    const one = enforce([step('a')], {}, { finishAttempts: 1 })
    expect(one.finish().status).toBeNull()
    expect(one.finish().status).toBe('incomplete')
  })

  it('G9: is sent back while a call is not accounted for, and says which', () => {
    const enforcer = enforce([step('a')], { allowExtraTools: true })
    make(enforcer, 'a')
    const { callId } = admit(enforcer, 'x')
    expect(enforcer.finish()).toMatchObject({ accepted: false, remaining: [], unsettled: [callId] })
    enforcer.recordToolCall('x', { outcome: 'unknown' })
    expect(enforcer.finish()).toMatchObject({ accepted: false, unsettled: [callId] })
    enforcer.recordToolCall('x', { outcome: 'failed' })
    expect(enforcer.finish().accepted).toBe(true)
  })

  it('G9: skips the optional steps that are left', () => {
    const enforcer = enforce([step('a'), step('b', { required: false })])
    make(enforcer, 'a')
    expect(enforcer.finish().accepted).toBe(true)
    expect(enforcer.plan.getStepExecution('b')).toMatchObject({ status: 'skipped', by: 'finish' })
    expect(enforcer.isComplete).toBe(true)
  })

  it('G9: after a required step failed ends the run failed', () => {
    const enforcer = enforce([step('a'), step('b')])
    enforcer.failCurrentStep('no')
    expect(enforcer.finish()).toMatchObject({ accepted: false, status: 'failed' })
  })

  it('G9: while the run waits for a person at a required step is sent back', () => {
    const enforcer = enforce([step('a', { expectedTools: ['x', 'y'], maxToolCalls: 2, onLimit: 'escalate' })])
    make(enforcer, ['x', 'x'])
    expect(enforcer.finish()).toMatchObject({ accepted: false, remaining: ['a'] })
  })

  it('G9: declares a last step without tools, with the answer as its result', () => {
    const enforcer = enforce([step('a'), step('summary', { expectedTools: [] })])
    expect(enforcer.finish('too early').accepted).toBe(false)
    make(enforcer, 'a')
    expect(enforcer.finish('all is well').accepted).toBe(true)
    expect(enforcer.plan.getStepExecution('summary')).toMatchObject({
      status: 'completed',
      by: 'model',
      result: 'all is well',
    })
  })

  it('G9: declares it over optional steps that are left, which are skipped', () => {
    const enforcer = enforce([
      step('a', { required: false }),
      step('summary', { expectedTools: [] }),
      step('z', { required: false }),
    ])
    expect(enforcer.finish('fine').accepted).toBe(true)
    expect(statuses(enforcer)).toBe('a skipped, summary completed, z skipped')
  })

  it('G9: does not declare two steps, nor one that names tools', () => {
    const two = enforce([step('s1', { expectedTools: [] }), step('s2', { expectedTools: [] })])
    expect(two.finish().remaining).toEqual(['s1', 's2'])
    const tools = enforce([step('a', { completeWhen: 'declared' })])
    expect(tools.finish().remaining).toEqual(['a'])
  })

  it('G9: does not declare a step whose validation does not hold', () => {
    const enforcer = enforce([
      step('a'),
      step('summary', { expectedTools: [], validation: { expression: 'failed("a")' } }),
    ])
    make(enforcer, 'a')
    expect(enforcer.finish('x')).toMatchObject({ accepted: false, remaining: ['summary'] })
  })

  it('G9: without any step is accepted', () => {
    expect(enforce([]).finish().accepted).toBe(true)
  })

  it('G9: of a run that was only observed is gated all the same', () => {
    const enforcer = enforce([step('a')], {}, { blockViolations: false })
    expect(enforcer.finish().accepted).toBe(false)
  })
})
