import { describe, expect, it } from 'vitest'
import { Playbook } from '../playbook/playbook.ts'
import { PlaybookEnforcer } from './playbook-enforcer.ts'

const playbook = new Playbook({
  id: 'refund',
  name: 'Refund',
  steps: [
    { id: 'verify', description: 'Verify', expectedTools: ['lookup', 'score'] },
    { id: 'pay', description: 'Pay', expectedTools: ['pay'] },
  ],
})

describe('recordToolCall', () => {
  it('adds the call to the total, to the count of its step and to its names', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.validateToolCall('lookup')
    enforcer.recordToolCall('lookup')
    enforcer.validateToolCall('lookup')
    enforcer.recordToolCall('lookup')
    expect(enforcer.plan.totalToolCalls).toBe(2)
    expect(enforcer.plan.getStepExecution('verify')).toMatchObject({
      status: 'in_progress',
      toolCalls: ['lookup', 'lookup'],
      toolCallCount: 2,
    })
  })

  it('keeps id, tool, arguments, outcome, times, result and error of every call', () => {
    let now = 5000
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, { clock: () => now })
    enforcer.validateToolCall('lookup', { callId: 'c1', arguments: { order: 'O-1' } })
    now = 6000
    enforcer.recordToolCall('lookup', { callId: 'c1', outcome: 'failed', error: 'no such order' })
    enforcer.validateToolCall('score')
    enforcer.recordToolCall('score', { result: { risk: 0.2 } })
    expect(enforcer.plan.getStepExecution('verify')?.calls).toEqual([
      {
        id: 'c1',
        tool: 'lookup',
        arguments: { order: 'O-1' },
        outcome: 'failed',
        admittedAt: new Date(5000),
        settledAt: new Date(6000),
        result: undefined,
        error: 'no such order',
        observed: null,
      },
      expect.objectContaining({ id: 'call-2', arguments: null, outcome: 'succeeded', result: { risk: 0.2 } }),
    ])
  })

  it('settles, by name alone, the oldest open call of that name', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.validateToolCall('lookup', { callId: 'first' })
    enforcer.validateToolCall('lookup', { callId: 'second' })
    enforcer.recordToolCall('lookup', { result: 'one' })
    const outcomes = enforcer.plan.getStepExecution('verify')!.calls.map(({ id, outcome }) => [id, outcome])
    expect(outcomes).toEqual([
      ['first', 'succeeded'],
      ['second', 'admitted'],
    ])
  })

  it('settles, by name alone, calls in flight before calls of unknown outcome', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.validateToolCall('lookup', { callId: 'first' })
    enforcer.validateToolCall('lookup', { callId: 'second' })
    enforcer.recordToolCall('lookup', { outcome: 'unknown' })
    enforcer.recordToolCall('lookup', { outcome: 'failed' })
    const outcomes = () => enforcer.plan.getStepExecution('verify')!.calls.map(({ outcome }) => outcome)
    expect(outcomes()).toEqual(['unknown', 'failed'])
    enforcer.recordToolCall('lookup')
    expect(outcomes()).toEqual(['succeeded', 'failed'])
  })

  it('takes a record without an open call as a violation that counts and completes nothing', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.recordToolCall('lookup')
    enforcer.recordToolCall('score')
    expect(enforcer.plan.totalToolCalls).toBe(2)
    expect(enforcer.plan.stepExecutions).toEqual({})
    expect(enforcer.violations.map(({ violationType }) => violationType)).toEqual([
      'unadmitted_call',
      'unadmitted_call',
    ])
    expect(enforcer.currentStep?.id).toBe('verify')
  })

  it('does not settle a call by its id under the name of another tool', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.validateToolCall('lookup', { callId: 'c1' })
    enforcer.recordToolCall('score', { callId: 'c1' })
    expect(enforcer.plan.getStepExecution('verify')!.calls[0]!.outcome).toBe('admitted')
    expect(enforcer.violations[0]!.violationType).toBe('unadmitted_call')
  })

  it('does not settle the same call twice', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.validateToolCall('lookup', { callId: 'c1' })
    enforcer.recordToolCall('lookup', { callId: 'c1', outcome: 'failed' })
    enforcer.recordToolCall('lookup', { callId: 'c1', outcome: 'succeeded' })
    expect(enforcer.plan.getStepExecution('verify')!.calls[0]!.outcome).toBe('failed')
  })

  it('counts a call of unknown outcome once, and not at all if it turns out not to have been made', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.validateToolCall('lookup')
    enforcer.recordToolCall('lookup', { outcome: 'unknown' })
    expect(enforcer.plan.totalToolCalls).toBe(1)
    enforcer.recordToolCall('lookup', { outcome: 'not_executed' })
    expect(enforcer.plan.totalToolCalls).toBe(0)
    expect(enforcer.plan.getStepExecution('verify')!.toolCalls).toEqual([])
  })

  it('throws invalid_value for a result that is not JSON, and leaves the call open', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.validateToolCall('lookup')
    expect(() => enforcer.recordToolCall('lookup', { result: () => 1 })).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
    expect(enforcer.plan.getStepExecution('verify')!.calls[0]!.outcome).toBe('admitted')
  })

  it('throws invalid_value for an outcome it does not know, and leaves the call open', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.validateToolCall('lookup')
    expect(() => enforcer.recordToolCall('lookup', { outcome: 'success' as never })).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
    expect(enforcer.plan.getStepExecution('verify')!.calls[0]!.outcome).toBe('admitted')
  })

  it('keeps a copy of the result, so that changing the original changes no evidence', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    const result = { status: 'fine' }
    enforcer.validateToolCall('lookup')
    enforcer.recordToolCall('lookup', { result })
    result.status = 'changed'
    expect(enforcer.plan.getStepExecution('verify')!.calls[0]!.result).toEqual({ status: 'fine' })
  })
})

describe('plan', () => {
  it('is a record: changing it changes no verdict', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    const { plan } = enforcer
    plan.currentStepIndex = 1
    plan.completed = true
    expect(enforcer.validateToolCall('pay').code).toBe('out_of_sequence')
    expect(enforcer.currentStep?.id).toBe('verify')
    expect(enforcer.isComplete).toBe(false)
  })

  it('points past the last step when nothing is due', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    enforcer.completeCurrentStep()
    enforcer.completeCurrentStep()
    expect(enforcer.plan.currentStepIndex).toBe(2)
    expect(enforcer.plan.currentStep).toBeNull()
    expect(enforcer.plan.completed).toBe(true)
  })

  it('tells when the run and each of its steps began and ended', () => {
    let now = 1000
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, { clock: () => now })
    now = 2000
    enforcer.validateToolCall('lookup')
    now = 3000
    enforcer.recordToolCall('lookup')
    enforcer.validateToolCall('score')
    now = 4000
    enforcer.recordToolCall('score')
    expect(enforcer.plan.startedAt).toEqual(new Date(1000))
    expect(enforcer.plan.getStepExecution('verify')).toMatchObject({
      startedAt: new Date(2000),
      completedAt: new Date(4000),
    })
  })
})
