import { describe, expect, it } from 'vitest'
import { StepStatus } from '../run/step-status.ts'
import { StepExecution } from './step-execution.ts'

describe('StepExecution', () => {
  it('begins pending: no times, no calls, no result, no error', () => {
    expect({ ...new StepExecution({ stepId: 'verify' }) }).toEqual({
      stepId: 'verify',
      status: StepStatus.PENDING,
      phase: 'waiting',
      visit: 1,
      startedAt: null,
      completedAt: null,
      toolCalls: [],
      toolCallCount: 0,
      calls: [],
      by: null,
      error: null,
      result: null,
      outOfOrder: false,
      earlierVisits: [],
    })
  })

  it('keeps the times, the calls and the result of a completed step', () => {
    const startedAt = new Date('2026-01-01T10:00:00Z')
    const completedAt = new Date('2026-01-01T10:05:00Z')
    const execution = new StepExecution({
      stepId: 'verify',
      status: StepStatus.COMPLETED,
      startedAt,
      completedAt,
      toolCalls: ['lookup_order', 'lookup_customer'],
      toolCallCount: 2,
      result: 'the order is real',
    })
    expect(execution).toMatchObject({
      status: 'completed',
      startedAt,
      completedAt,
      toolCalls: ['lookup_order', 'lookup_customer'],
      toolCallCount: 2,
      result: 'the order is real',
      error: null,
    })
  })

  it('keeps the error of a failed step', () => {
    const execution = new StepExecution({ stepId: 'verify', status: 'failed', error: 'no such order' })
    expect(execution.status).toBe('failed')
    expect(execution.error).toBe('no such order')
  })

  it('counts its calls when no count is given', () => {
    expect(new StepExecution({ stepId: 'verify', toolCalls: ['a', 'b', 'a'] }).toolCallCount).toBe(3)
  })

  it('copies its lists, so that two executions never share one', () => {
    const toolCalls = ['a']
    const execution = new StepExecution({ stepId: 'verify', toolCalls })
    toolCalls.push('b')
    expect(execution.toolCalls).toEqual(['a'])
  })
})
