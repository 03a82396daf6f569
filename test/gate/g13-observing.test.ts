import { describe, expect, it } from 'vitest'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { tool } from '../../src/tool/tool.ts'
import type { PlaybookStepDefinition } from '../../src/playbook/playbook-step.ts'
import type { PlaybookDefinition } from '../../src/playbook/playbook.ts'
import { enforce, fakeClock, phase, statuses, step } from './enforce.ts'

const observe = (
  steps: readonly PlaybookStepDefinition[],
  fields: Omit<Partial<PlaybookDefinition>, 'steps'> = {},
) => enforce(steps, fields, { blockViolations: false })

function make(enforcer: ReturnType<typeof observe>, ...tools: string[]): (string | null)[] {
  return tools.map((name) => {
    const { allowed, code, callId } = enforcer.validateToolCall(name)
    expect(allowed).toBe(true)
    enforcer.recordToolCall(name, { callId: callId! })
    return code
  })
}

describe('observing', () => {
  it("G13: relaxes the playbook's verdicts: the call is let through, the violation is recorded and not blocked", () => {
    const enforcer = observe([step('a'), step('b')])
    const result = enforcer.validateToolCall('b')
    expect(result).toMatchObject({ allowed: true, code: 'out_of_sequence', violation: { blocked: false } })
    expect(result.callId).not.toBeNull()
    expect(enforcer.violations).toMatchObject([{ violationType: 'out_of_sequence', blocked: false }])
  })

  it('G13: credits a success out of order, and marks it', () => {
    const enforcer = observe([step('a'), step('b'), step('c')])
    make(enforcer, 'b')
    expect(statuses(enforcer)).toBe('a pending, b completed, c pending')
    expect(enforcer.plan.getStepExecution('b')).toMatchObject({ outOfOrder: true })
    expect(enforcer.plan.getStepExecution('b')?.calls[0]?.observed).toBe('out_of_sequence')
    expect(enforcer.currentStep?.id).toBe('a')
    make(enforcer, 'a')
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ outOfOrder: false })
    expect(enforcer.currentStep?.id).toBe('c')
    make(enforcer, 'c')
    expect(enforcer.isComplete).toBe(true)
  })

  it('G13: only success is evidence here too', () => {
    const enforcer = observe([step('a'), step('b')])
    enforcer.validateToolCall('b')
    enforcer.recordToolCall('b', { outcome: 'failed' })
    expect(statuses(enforcer)).toBe('a pending, b in_progress')
  })

  it('G13: the record says observed, not enforced', () => {
    const enforcer = observe([step('a')])
    expect(enforcer.getStepSummary().enforced).toBe(false)
    expect(enforcer.blockViolations).toBe(false)
    expect(enforcer.snapshot().state.enforced).toBe(false)
  })

  it.each<[string, string | null]>([
    ['unexpected_tool', 'x'],
    ['out_of_sequence', 'b'],
  ])('G13: %s is relaxed', (code, name) => {
    expect(observe([step('a'), step('b')]).validateToolCall(name!)).toMatchObject({ allowed: true, code })
  })

  it('G13: the end, a failed step, a pause, a cap, a closed step, rules and completion are relaxed', () => {
    const ended = observe([])
    ended.finish()
    expect(make(ended, 'x')).toEqual(['run_ended'])
    const failed = observe([step('a'), step('b')])
    failed.failCurrentStep('no')
    expect(make(failed, 'a', 'b')).toEqual(['step_failed', 'step_failed'])
    const paused = observe([step('a', { when: 'result("b").go' }), step('b')])
    expect(make(paused, 'a')).toEqual(['run_paused'])
    const capped = observe([step('a', { maxToolCalls: 1 }), step('b')])
    expect(make(capped, 'a', 'a')).toEqual([null, 'max_tool_calls'])
    const closed = observe([step('a'), step('b')])
    expect(make(closed, 'a', 'a')).toEqual([null, 'step_closed'])
    const ruled = observe([step('a')], { rules: [{ tool: 'a', require: 'args.n > 1' }] })
    expect(make(ruled, 'a')).toEqual(['arguments_required'])
    expect(ruled.isComplete).toBe(true)
    const complete = observe([step('a')])
    expect(make(complete, 'a', 'a', 'x')).toEqual([null, 'playbook_complete', 'playbook_complete'])
    const extras = observe([step('a')], { allowExtraTools: true, maxExtraCalls: 1 })
    expect(make(extras, 'x', 'x')).toEqual([null, 'max_extra_calls'])
  })

  it('G13: what concerns the call itself still binds', () => {
    const enforcer = enforce(
      [step('a', { maxToolCalls: 5 })],
      {},
      { blockViolations: false, tools: [tool({ name: 'a', description: 'A', execute: () => 1 })] },
    )
    expect(enforcer.validateToolCall('a', { callId: 'c' }).allowed).toBe(true)
    for (const [name, call, code] of [
      ['a!', {}, 'invalid_tool_name'],
      ['a', { arguments: 5 }, 'invalid_arguments'],
      ['a', { callId: 'c' }, 'duplicate_call'],
      ['b', {}, 'unknown_tool'],
    ] as const) {
      expect(enforcer.validateToolCall(name, call)).toMatchObject({ allowed: false, code, callId: null })
    }
    expect(enforcer.violations.every(({ blocked }) => blocked)).toBe(true)
  })

  it('G13: the record still binds', () => {
    let failing = false
    const enforcer = enforce(
      [step('a')],
      {},
      {
        blockViolations: false,
        onEvents: () => {
          if (failing) throw new Error('disk full')
        },
      },
    )
    failing = true
    expect(enforcer.validateToolCall('a')).toMatchObject({ allowed: false, code: 'gate_error' })
  })

  it('G13: a call belongs to the first step that names it and is not done, else to the last that names it', () => {
    const enforcer = observe([
      step('a'),
      step('b', { expectedTools: ['t'] }),
      step('c', { expectedTools: ['t'] }),
    ])
    make(enforcer, 't', 't', 't')
    expect(enforcer.plan.executions.map(({ toolCalls }) => toolCalls.length)).toEqual([0, 1, 2])
  })

  it('G13: a limit still does what on_limit says, and the calls go on', () => {
    const enforcer = observe([step('a', { expectedTools: ['x', 'y'], maxToolCalls: 2 }), step('b')])
    expect(make(enforcer, 'x', 'x', 'y', 'b')).toEqual([null, null, 'step_failed', 'step_failed'])
    expect(statuses(enforcer)).toBe('a failed, b completed')
    expect(enforcer.isComplete).toBe(false)
  })

  it('G13: a late call of a step that is done does not start its clock again', () => {
    const clock = fakeClock()
    const enforcer = enforce(
      [step('a', { timeoutSeconds: 10 }), step('b')],
      {},
      { clock, blockViolations: false },
    )
    make(enforcer, 'a', 'a')
    clock.pass(100)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a completed, b pending')
    make(enforcer, 'b')
    expect(enforcer.isComplete).toBe(true)
  })

  it('G13: turns are counted and never stopped', () => {
    const enforcer = observe([step('a')], { maxIterations: 1 })
    expect([1, 2, 3].map(() => enforcer.beginIteration())).toEqual([true, true, true])
    expect(statuses(enforcer)).toBe('a failed')
  })

  it('G13: a step credited in part before its turn goes on when its turn comes', () => {
    const enforcer = observe([step('a'), step('b', { expectedTools: ['x', 'y'] })])
    make(enforcer, 'x', 'a')
    expect(phase(enforcer, 'b')).toBe('open')
    expect(make(enforcer, 'y')).toEqual([null])
    expect(enforcer.plan.getStepExecution('b')).toMatchObject({ status: 'completed', outOfOrder: false })
  })

  it('G13: observing is a property of the run: a snapshot keeps it', () => {
    const enforcer = observe([step('a'), step('b')])
    make(enforcer, 'b')
    const taken = PlaybookEnforcer.restore(enforcer.playbook, enforcer.snapshot())
    expect(taken.blockViolations).toBe(false)
    expect(taken.plan.getStepExecution('b')).toMatchObject({ outOfOrder: true })
    expect(taken.validateToolCall('b')).toMatchObject({ allowed: true, code: 'step_closed' })
  })
})
