import { describe, expect, it } from 'vitest'
import { admit, enforce, make, refusal, step } from './enforce.ts'
import type { RunEvent } from '../../src/run/event.ts'

describe('an admitted call', () => {
  it('G1: admits a call whose arguments fit a schema, where nothing else is asked', () => {
    const schema = { type: 'object', required: ['n'] } as const
    const enforcer = enforce([step('a', { arguments: { a: { schema, message: 'n is missing' } } })])
    expect(refusal(enforcer, 'a', {})).toBe('argument_rule')
    expect(refusal(enforcer, 'a', { n: 1 })).toBeNull()
  })

  it('G1: gives a call without an id the next number that is free', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 5 })])
    enforcer.validateToolCall('a', { callId: 'call-2' })
    expect(admit(enforcer, 'a').callId).toBe('call-3')
  })

  it('G3: records why a step was passed over, and that a step with a when was opened for it', () => {
    const events: RunEvent[] = []
    const record = { onEvents: (each: readonly RunEvent[]) => events.push(...each) }
    const steps = [step('a', { required: false }), step('b')]
    const skipped = {
      type: 'step.skipped',
      step: 'a',
      by: 'passed_over',
      reason: "'b' was called for step 'b'",
    }
    make(enforce(steps, {}, record), 'b')
    expect(events.slice(1, 3)).toMatchObject([skipped, { type: 'tool.admitted', step: 'b' }])
    events.length = 0
    make(enforce([steps[0]!, step('b', { when: 'steps.a.status == "skipped"' })], {}, record), 'b')
    expect(events.slice(1, 4)).toMatchObject([
      skipped,
      { type: 'step.opened', step: 'b' },
      { type: 'tool.admitted', step: 'b' },
    ])
  })

  it('G3: says in the record why a step was skipped by its when', () => {
    const enforcer = enforce([step('a', { when: '1 > 2' })])
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ result: 'when does not hold: 1 > 2' })
  })
})
