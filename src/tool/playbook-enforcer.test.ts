import { describe, expect, it } from 'vitest'
import { Playbook, type PlaybookDefinition } from '../playbook/playbook.ts'
import { EnforcementViolation } from './enforcement-result.ts'
import { PlaybookEnforcer } from './playbook-enforcer.ts'

const refund = {
  id: 'refund',
  name: 'Refund',
  steps: [
    {
      id: 'verify',
      description: 'Verify',
      expectedTools: ['lookup'],
      hints: ['Look it up', 'Then look again'],
    },
    { id: 'approve', description: 'Approve', expectedTools: ['approve'], hints: ['Ask a person'] },
    { id: 'pay', description: 'Pay', expectedTools: ['pay'] },
  ],
} satisfies PlaybookDefinition

function enforcerFor(changes: Partial<PlaybookDefinition> = {}): PlaybookEnforcer {
  return PlaybookEnforcer.fromPlaybook(new Playbook({ ...refund, ...changes }))
}

function make(enforcer: PlaybookEnforcer, ...tools: string[]): void {
  for (const tool of tools) {
    expect(enforcer.validateToolCall(tool).allowed).toBe(true)
    enforcer.recordToolCall(tool)
  }
}

describe('fromPlaybook', () => {
  it('blocks and records violations by default', () => {
    const enforcer = enforcerFor()
    expect(enforcer.blockViolations).toBe(true)
    expect(enforcer.recordViolations).toBe(true)
  })

  it('honours both options', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(new Playbook(refund), {
      blockViolations: false,
      recordViolations: false,
    })
    expect(enforcer.blockViolations).toBe(false)
    expect(enforcer.recordViolations).toBe(false)
  })

  it('starts at the first step and exposes its hints', () => {
    const enforcer = enforcerFor()
    expect(enforcer.currentStep?.id).toBe('verify')
    expect(enforcer.currentStepHints).toEqual(['Look it up', 'Then look again'])
  })

  it('keeps the playbook it was given', () => {
    const playbook = new Playbook(refund)
    expect(PlaybookEnforcer.fromPlaybook(playbook).playbook).toBe(playbook)
  })
})

describe('progress', () => {
  it('is 0 at the start, a third after one of three steps, and 1 at the end', () => {
    const enforcer = enforcerFor()
    expect(enforcer.progress).toBe(0)
    make(enforcer, 'lookup')
    expect(enforcer.progress).toBeCloseTo(1 / 3)
    make(enforcer, 'approve', 'pay')
    expect(enforcer.progress).toBe(1)
  })

  it('makes the run complete only after all steps', () => {
    const enforcer = enforcerFor()
    for (const tool of ['lookup', 'approve', 'pay']) {
      expect(enforcer.isComplete).toBe(false)
      make(enforcer, tool)
    }
    expect(enforcer.isComplete).toBe(true)
    expect(enforcer.currentStep).toBeNull()
    expect(enforcer.currentStepHints).toEqual([])
  })

  it('of a playbook without steps is complete at once', () => {
    const enforcer = enforcerFor({ steps: [] })
    expect(enforcer.isComplete).toBe(true)
    expect(enforcer.progress).toBe(1)
    expect(enforcer.validateToolCall('lookup').code).toBe('playbook_complete')
  })
})

describe('validateToolCall', () => {
  it('allows a tool that the step expects, without a violation, and names the step and the call', () => {
    const result = enforcerFor().validateToolCall('lookup')
    expect(result).toMatchObject({ allowed: true, code: null, violation: null })
    expect(result.currentStep?.id).toBe('verify')
    expect(result.callId).toBe('call-1')
    expect(result.hints).toEqual(['Look it up', 'Then look again'])
  })

  it('refuses a tool that no step expects as unexpected_tool, blocked', () => {
    const result = enforcerFor().validateToolCall('delete_everything')
    expect(result).toMatchObject({ allowed: false, code: 'unexpected_tool', callId: null })
    expect(result.violation).toMatchObject({
      violationType: 'unexpected_tool',
      stepId: 'verify',
      toolName: 'delete_everything',
      blocked: true,
    })
    expect(result.hints[0]).toContain('lookup')
    expect(result.hints).toContain('Look it up')
  })

  it("refuses a later step's tool as out_of_sequence", () => {
    const result = enforcerFor().validateToolCall('pay')
    expect(result).toMatchObject({ allowed: false, code: 'out_of_sequence' })
    expect(result.currentStep?.id).toBe('verify')
  })

  it('allows a tool that no step names where extra tools are allowed', () => {
    const result = enforcerFor({ allowExtraTools: true }).validateToolCall('search_the_web')
    expect(result).toMatchObject({ allowed: true, violation: null })
  })

  it('refuses every tool once the playbook is complete', () => {
    const enforcer = enforcerFor()
    make(enforcer, 'lookup', 'approve', 'pay')
    for (const tool of ['lookup', 'pay', 'anything']) {
      expect(enforcer.validateToolCall(tool)).toMatchObject({
        allowed: false,
        code: 'playbook_complete',
        violation: { violationType: 'playbook_complete', stepId: null, blocked: true },
        hints: ['Every step is done: give the final answer.'],
        currentStep: null,
      })
    }
  })

  it('refuses the third call of a step with a cap of two', () => {
    const enforcer = enforcerFor({
      steps: [
        { id: 'verify', description: 'Verify', expectedTools: ['lookup'], maxToolCalls: 2 },
        { id: 'pay', description: 'Pay', expectedTools: ['pay'] },
      ],
    })
    make(enforcer, 'lookup', 'lookup')
    expect(enforcer.validateToolCall('lookup')).toMatchObject({
      allowed: false,
      code: 'max_tool_calls',
      violation: { violationType: 'max_tool_calls', blocked: true },
    })
  })

  it.each<[string, unknown]>([
    ['an empty name', ''],
    ['a name with a space', 'look up'],
    ['a name with a line break', 'lookup\n'],
    ['a look-alike in another alphabet', 'lооkup'],
    ['a name of 129 characters', 'a'.repeat(129)],
    ['a number', 5],
    ['null', null],
    ['a symbol', Symbol('lookup')],
  ])('refuses %s and does not throw', (_, name) => {
    expect(enforcerFor({ allowExtraTools: true }).validateToolCall(name as string).allowed).toBe(false)
  })

  it.each<[string, unknown]>([
    ['null for a call', null],
    ['a call id that is no text', { callId: 5 }],
    ['an object for a call id', { callId: {} }],
    [
      'a call whose arguments throw when read',
      {
        get arguments() {
          throw new Error('no')
        },
      },
    ],
  ])('refuses %s and does not throw', (_, call) => {
    const result = enforcerFor().validateToolCall('lookup', call as never)
    expect(result.allowed).toBe(false)
    expect(result.code).not.toBeNull()
  })

  it('refuses a call when the time cannot be told, and does not throw', () => {
    let broken = false
    const clock = () => {
      if (broken) throw new Error('the clock has stopped')
      return 0
    }
    const enforcer = PlaybookEnforcer.fromPlaybook(new Playbook(refund), { clock })
    broken = true
    expect(enforcer.validateToolCall('lookup')).toMatchObject({ allowed: false, code: 'gate_error' })
    broken = false
    expect(enforcer.validateToolCall('lookup').allowed).toBe(true)
  })
})

describe('completeCurrentStep', () => {
  it('completes the step, keeps the result, moves on and says that more is to do', () => {
    const enforcer = enforcerFor()
    expect(enforcer.completeCurrentStep('seen on paper')).toBe(true)
    expect(enforcer.currentStep?.id).toBe('approve')
    expect(enforcer.plan.getStepExecution('verify')).toMatchObject({
      status: 'completed',
      result: 'seen on paper',
      by: 'host',
    })
  })

  it('says false when it completes the last step, and the run is complete', () => {
    const enforcer = enforcerFor()
    expect(enforcer.completeCurrentStep()).toBe(true)
    expect(enforcer.completeCurrentStep()).toBe(true)
    expect(enforcer.completeCurrentStep()).toBe(false)
    expect(enforcer.isComplete).toBe(true)
  })

  it('says false for the last step although an extra call is still open', () => {
    const enforcer = enforcerFor({ allowExtraTools: true })
    enforcer.validateToolCall('search_the_web')
    make(enforcer, 'lookup', 'approve')
    expect(enforcer.completeCurrentStep()).toBe(false)
    expect(enforcer.isComplete).toBe(false)
  })
})

describe('skipCurrentStep', () => {
  it('says false for a required step, which stays', () => {
    const enforcer = enforcerFor()
    expect(enforcer.skipCurrentStep('no time')).toBe(false)
    expect(enforcer.currentStep?.id).toBe('verify')
    expect(enforcer.plan.getStepExecution('verify')).toBeNull()
  })

  it('skips an optional step and moves on', () => {
    const enforcer = enforcerFor({
      steps: [{ ...refund.steps[0]!, required: false }, ...refund.steps.slice(1)],
    })
    expect(enforcer.skipCurrentStep('known customer')).toBe(true)
    expect(enforcer.currentStep?.id).toBe('approve')
    expect(enforcer.plan.getStepExecution('verify')).toMatchObject({
      status: 'skipped',
      result: 'known customer',
      by: 'host',
    })
  })
})

describe('failCurrentStep', () => {
  it('marks the step as failed, keeps the error, and adds it to the errors of the plan', () => {
    const enforcer = enforcerFor()
    enforcer.failCurrentStep('the order does not exist')
    expect(enforcer.plan.getStepExecution('verify')).toMatchObject({
      status: 'failed',
      error: 'the order does not exist',
      by: 'host',
    })
    expect(enforcer.plan.errors).toEqual(['Step verify: the order does not exist'])
  })

  it('does nothing to a step that has failed already', () => {
    const enforcer = enforcerFor()
    enforcer.failCurrentStep('first')
    enforcer.failCurrentStep('second')
    expect(enforcer.plan.errors).toEqual(['Step verify: first'])
  })
})

describe('getNextStepHints', () => {
  it('gives the hints of the step after the current one, as a list of its own', () => {
    const enforcer = enforcerFor()
    expect(enforcer.getNextStepHints()).toEqual(['Ask a person'])
    enforcer.getNextStepHints().push('mine')
    expect(enforcer.getNextStepHints()).toEqual(['Ask a person'])
  })

  it('is empty where the next step has none, and where there is no next step', () => {
    const enforcer = enforcerFor()
    make(enforcer, 'lookup')
    expect(enforcer.getNextStepHints()).toEqual([])
    make(enforcer, 'approve')
    expect(enforcer.getNextStepHints()).toEqual([])
    make(enforcer, 'pay')
    expect(enforcer.getNextStepHints()).toEqual([])
  })
})

describe('getStepSummary', () => {
  it('of a fresh run counts three steps, all pending', () => {
    expect(enforcerFor().getStepSummary()).toEqual({
      totalSteps: 3,
      currentStepIndex: 0,
      completed: 0,
      skipped: 0,
      failed: 0,
      inProgress: 0,
      pending: 3,
      progress: 0,
      isComplete: false,
      violationsDropped: 0,
      enforced: true,
    })
  })

  it('counts every status once', () => {
    const enforcer = enforcerFor()
    make(enforcer, 'lookup')
    enforcer.validateToolCall('approve')
    expect(enforcer.getStepSummary()).toMatchObject({
      currentStepIndex: 1,
      completed: 1,
      inProgress: 1,
      pending: 1,
    })
  })
})

describe('violations', () => {
  it('lists what broke the playbook, oldest first', () => {
    const enforcer = enforcerFor()
    enforcer.validateToolCall('delete_everything')
    enforcer.validateToolCall('pay')
    expect(enforcer.violations).toEqual([
      expect.objectContaining({ toolName: 'delete_everything', violationType: 'unexpected_tool' }),
      expect.objectContaining({ toolName: 'pay', violationType: 'out_of_sequence' }),
    ])
    expect(enforcer.violations[0]).toBeInstanceOf(EnforcementViolation)
  })

  it('is a copy: changing it changes nothing', () => {
    const enforcer = enforcerFor()
    enforcer.validateToolCall('pay')
    enforcer.violations.length = 0
    expect(enforcer.violations).toHaveLength(1)
  })

  it('refuses and keeps nothing where recording is off', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(new Playbook(refund), { recordViolations: false })
    expect(enforcer.validateToolCall('pay')).toMatchObject({
      allowed: false,
      code: 'out_of_sequence',
      violation: null,
    })
    expect(enforcer.violations).toEqual([])
  })

  it('lets the call through and marks the violation as not blocked where blocking is off', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(new Playbook(refund), { blockViolations: false })
    expect(enforcer.validateToolCall('pay')).toMatchObject({
      allowed: true,
      code: 'out_of_sequence',
      violation: { violationType: 'out_of_sequence', blocked: false },
    })
    expect(enforcer.violations).toHaveLength(1)
  })
})

describe('reset', () => {
  it('goes back to the first step, without calls, violations or errors', () => {
    const enforcer = enforcerFor()
    make(enforcer, 'lookup')
    enforcer.validateToolCall('pay')
    enforcer.failCurrentStep('no')
    enforcer.reset()
    expect(enforcer.currentStep?.id).toBe('verify')
    expect(enforcer.plan).toMatchObject({ totalToolCalls: 0, errors: [], completed: false })
    expect(enforcer.plan.stepExecutions).toEqual({})
    expect(enforcer.violations).toEqual([])
    expect(enforcer.isComplete).toBe(false)
    expect(enforcer.validateToolCall('lookup').allowed).toBe(true)
  })
})

describe('after completion', () => {
  it('a record counts in the total alone, and fail, complete and skip do nothing', () => {
    const enforcer = enforcerFor()
    make(enforcer, 'lookup', 'approve', 'pay')
    enforcer.recordToolCall('pay')
    expect(enforcer.plan.totalToolCalls).toBe(4)
    expect(enforcer.plan.getStepExecution('pay')?.toolCallCount).toBe(1)
    enforcer.failCurrentStep('too late')
    expect(enforcer.plan.errors).toEqual([])
    expect(enforcer.completeCurrentStep()).toBe(false)
    expect(enforcer.skipCurrentStep()).toBe(false)
    expect(enforcer.isComplete).toBe(true)
  })
})
