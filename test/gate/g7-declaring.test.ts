import { describe, expect, it } from 'vitest'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import type { PlaybookStepDefinition } from '../../src/playbook/playbook-step.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { perform, startRun } from '../../src/run/perform.ts'
import type { RunRequest } from '../../src/run/request.ts'
import { admit, enforce, make, phase, playbookOf, refusal, statuses, step } from './enforce.ts'

/** A run whose requests the test makes itself: the model's declarations have no other door yet. */
function run(steps: readonly PlaybookStepDefinition[]) {
  const compiled = compilePlaybook(playbookOf(steps))
  const { state } = startRun(
    compiled,
    { run: 'r', inputs: {}, enforced: true, finishAttempts: 2 },
    { now: 0 },
  )
  let now = 0
  const ask = (request: RunRequest): readonly RunEvent[] => perform(state, request, { now }).answer
  return {
    state,
    at(time: number) {
      now = time
      return this
    },
    make(tool: string) {
      ask({ type: 'call', callId: null, tool, args: null })
      ask({ type: 'settle', callId: null, tool, outcome: 'succeeded' })
    },
    admit: (tool: string) => ask({ type: 'call', callId: null, tool, args: null })[0]!.type,
    declare: (id: string) => reasonsOf(ask({ type: 'complete', by: 'model', step: id, result: null })),
    skip: (id: string) => reasonsOf(ask({ type: 'skip', by: 'model', step: id, reason: null })),
    fail: (id: string) => reasonsOf(ask({ type: 'fail', by: 'model', step: id, error: 'no' })),
  }
}

function reasonsOf(answer: readonly RunEvent[]): string | null {
  const [event] = answer
  return event?.type === 'step.refused' ? event.reasons.join('; ') : null
}

describe("the model's declaration", () => {
  it('G7: completes a step without tools, and is recorded as its own', () => {
    const it = run([step('talk', { expectedTools: [] }), step('b')])
    expect(it.declare('talk')).toBeNull()
    expect(it.state.activations[0]).toMatchObject({ status: 'completed', by: 'model' })
  })

  it('G7: completes a step with "*" and one that asks for it', () => {
    const it = run([step('a', { expectedTools: ['*'] }), step('b', { completeWhen: 'declared' })])
    expect(it.declare('a')).toBeNull()
    expect(it.declare('b')).toBeNull()
  })

  it('G7: does not complete a step that completes by its calls', () => {
    const it = run([step('a')])
    expect(it.declare('a')).toMatch(/by its calls/)
  })

  it('G7: does not complete a step before its turn', () => {
    const it = run([step('a'), step('talk', { expectedTools: [] })])
    expect(it.declare('talk')).toMatch(/turn has not come/)
  })

  it('G7: is necessary, never sufficient: the named tools of a "*" step must have succeeded', () => {
    const it = run([step('a', { expectedTools: ['a', '*'] })])
    expect(it.declare('a')).toMatch(/still to succeed: a/)
    it.make('a')
    expect(it.declare('a')).toBeNull()
  })

  it('G7: is necessary, never sufficient where there is validation', () => {
    const it = run([step('a', { completeWhen: 'declared', validation: { minToolCalls: 1 } })])
    expect(it.declare('a')).toMatch(/0 of at least 1/)
    it.make('a')
    expect(it.declare('a')).toBeNull()
  })

  it('G7: is refused while a call of the step is open', () => {
    const it = run([step('a', { completeWhen: 'declared' })])
    expect(it.admit('a')).toBe('tool.admitted')
    expect(it.declare('a')).toMatch(/not settled yet: a/)
  })

  it('G7: does not answer for the person a limit asks for', () => {
    const it = run([
      step('talk', { expectedTools: [], required: false, timeoutSeconds: 1, onLimit: 'escalate' }),
    ])
    it.at(2000)
    expect(it.declare('talk')).toMatch(/person/)
    expect(it.skip('talk')).toMatch(/person/)
    expect(it.state.paused).toBe(1)
    expect(it.fail('talk')).toBeNull()
  })

  it('G7: does not answer for the person an undecided step asks for', () => {
    const it = run([step('talk', { expectedTools: [], required: false, when: 'result("b").go' }), step('b')])
    expect(it.declare('talk')).toMatch(/person/)
    expect(it.skip('talk')).toMatch(/person/)
  })

  it('G7: does not overtake a step before it that took up another call', () => {
    const it = run([step('a', { maxToolCalls: 3 }), step('talk', { expectedTools: [] })])
    it.make('a')
    it.admit('a')
    expect(it.declare('talk')).toMatch(/before it/)
  })
})

describe("the host's completeCurrentStep", () => {
  it('G7: overrides complete_when, and is recorded by: host', () => {
    const enforcer = enforce([step('a', { expectedTools: ['x', 'y'] }), step('b')])
    make(enforcer, 'x')
    expect(enforcer.completeCurrentStep('y is known')).toBe(true)
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ by: 'host', result: 'y is known' })
  })

  it('G7: throws with all the reasons when validation fails, and moves nothing', () => {
    const enforcer = enforce([
      step('a', { validation: { minToolCalls: 2, requiredResultKeywords: ['ok'], expression: 'calls > 5' } }),
    ])
    expect(() => enforcer.completeCurrentStep()).toThrow(
      expect.objectContaining({
        code: 'step_not_completable',
        message: expect.stringMatching(/0 of at least 2.*"ok".*calls > 5/) as string,
      }),
    )
    expect(statuses(enforcer)).toBe('a pending')
  })

  it('G7: never overrides an open ticket, and says which', () => {
    const enforcer = enforce([step('a')])
    enforcer.validateToolCall('a', { callId: 'c-9' })
    expect(() => enforcer.completeCurrentStep()).toThrow(/a \(c-9, admitted\)/)
    enforcer.recordToolCall('a', { outcome: 'unknown' })
    expect(() => enforcer.completeCurrentStep()).toThrow(/a \(c-9, unknown\)/)
  })

  it('G7: answers an escalation', () => {
    const enforcer = enforce([
      step('a', { expectedTools: ['x', 'y'], maxToolCalls: 2, onLimit: 'escalate' }),
      step('b'),
    ])
    make(enforcer, ['x', 'x'])
    expect(refusal(enforcer, 'b')).toBe('run_paused')
    enforcer.completeCurrentStep('checked by hand')
    expect(refusal(enforcer, 'b')).toBeNull()
  })

  it('G7: does not overtake a step that took up another call, whatever the order of the list', () => {
    const enforcer = enforce([
      step('talk', { expectedTools: [], after: 'a' }),
      step('a', { maxToolCalls: 3 }),
    ])
    make(enforcer, 'a')
    admit(enforcer, 'a')
    expect(enforcer.currentStep?.id).toBe('talk')
    expect(() => enforcer.completeCurrentStep()).toThrow(/before it/)
  })
})

describe('skipping and failing', () => {
  it('G7: skipping works for optional steps without open tickets', () => {
    const enforcer = enforce([step('a', { required: false }), step('b')])
    admit(enforcer, 'a')
    expect(enforcer.skipCurrentStep()).toBe(false)
    enforcer.recordToolCall('a', { outcome: 'failed' })
    expect(enforcer.skipCurrentStep()).toBe(true)
    expect(enforcer.skipCurrentStep()).toBe(false)
  })

  it('G7: failing works for every step that awaits something: open, with open tickets, undecided, escalated', () => {
    const inFlight = enforce([step('a', { required: false }), step('b')])
    admit(inFlight, 'a')
    inFlight.failCurrentStep('no')
    expect(statuses(inFlight)).toBe('a failed, b pending')
    inFlight.recordToolCall('a')
    expect(statuses(inFlight)).toBe('a failed, b pending')

    const undecided = enforce([step('a', { required: false, when: 'result("b").go' }), step('b')])
    undecided.failCurrentStep('nobody knows')
    expect(refusal(undecided, 'b')).toBeNull()

    const escalated = enforce([
      step('a', { required: false, expectedTools: ['x', 'y'], maxToolCalls: 2, onLimit: 'escalate' }),
      step('b'),
    ])
    make(escalated, ['x', 'x'])
    expect(phase(escalated, 'a')).toBe('escalated')
    escalated.failCurrentStep('no')
    expect(refusal(escalated, 'b')).toBeNull()
  })
})
