import { describe, expect, it } from 'vitest'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { replay } from '../../src/run/perform.ts'
import { writeState } from '../../src/run/state-json.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { admit, enforce, make, playbookOf, refusal, statuses, step } from './enforce.ts'

describe('one plan per run', () => {
  it('G11: two enforcers of one playbook never share a plan', () => {
    const playbook = playbookOf([step('a'), step('b')])
    const one = PlaybookEnforcer.fromPlaybook(playbook)
    const two = PlaybookEnforcer.fromPlaybook(playbook)
    make(one, ['a', 'b'])
    refusal(one, 'a')
    expect(one.isComplete).toBe(true)
    expect(statuses(two)).toBe('a pending, b pending')
    expect(two.violations).toEqual([])
    expect(refusal(two, 'b')).toBe('out_of_sequence')
    make(two, 'a')
  })

  it('G11: two runs side by side stay apart', async () => {
    const playbook = playbookOf([step('a', { maxToolCalls: 1 }), step('b')])
    const runs = Array.from({ length: 10 }, () => PlaybookEnforcer.fromPlaybook(playbook))
    const outcomes = await Promise.all(
      runs.flatMap((run) => [
        run.call('a', {}, () => 1),
        run.call('a', {}, () => 1),
        run.call('b', {}, () => 1),
      ]),
    )
    expect(outcomes.filter(({ status }) => status === 'succeeded')).toHaveLength(20)
    expect(runs.every((run) => run.isComplete)).toBe(true)
  })

  it('G11: the plan is handed out as a record of its own; it never reaches back into the run', () => {
    const enforcer = enforce([step('a'), step('b')])
    make(enforcer, 'a')
    const { plan } = enforcer
    plan.stepExecutions['a']!.status = 'pending'
    plan.errors.push('x')
    make(enforcer, 'b')
    expect(statuses(enforcer)).toBe('a completed, b completed')
    expect(enforcer.plan.errors).toEqual([])
    expect(plan.completed).toBe(false)
  })

  it('G11: the plan is stored with the run: a snapshot taken up again goes on where it stood', () => {
    const playbook = playbookOf([step('a'), step('b', { maxToolCalls: 2 }), step('c')])
    const first = PlaybookEnforcer.fromPlaybook(playbook)
    make(first, ['a', 'b'])
    const text = JSON.stringify(first.snapshot())
    const second = PlaybookEnforcer.restore(playbook, JSON.parse(text) as never)
    expect(statuses(second)).toBe('a completed, b completed, c pending')
    expect(refusal(second, 'a')).toBe('step_closed')
    make(second, ['b', 'c'])
    expect(second.isComplete).toBe(true)
    expect(statuses(first)).toBe('a completed, b completed, c pending')
  })

  it('G11: calls in flight survive, and can be recorded by the id they were admitted under', () => {
    const playbook = playbookOf([step('a', { maxToolCalls: 1 }), step('b')])
    const first = PlaybookEnforcer.fromPlaybook(playbook)
    const { callId } = admit(first, 'a')
    const second = PlaybookEnforcer.restore(playbook, first.snapshot())
    expect(refusal(second, 'a')).toBe('max_tool_calls')
    expect(refusal(second, 'b')).toBe('out_of_sequence')
    second.recordToolCall('a', { callId: callId! })
    expect(statuses(second)).toBe('a completed, b pending')
  })

  it('G11: another version of the playbook is refused unless asked for', () => {
    const first = enforce([step('a'), step('b')])
    make(first, 'a')
    const changed = playbookOf([step('a'), step('b'), step('c')], { version: '2.0.0' })
    expect(() => PlaybookEnforcer.restore(changed, first.snapshot())).toThrow(
      expect.objectContaining({ code: 'playbook_mismatch' }),
    )
    const second = PlaybookEnforcer.restore(changed, first.snapshot(), { acceptOtherVersion: true })
    expect(statuses(second)).toBe('a completed, b pending, c pending')
    make(second, ['b', 'c'])
    expect(second.isComplete).toBe(true)
  })

  it('G11: the events alone rebuild the same state', () => {
    const events: RunEvent[] = []
    const playbook = playbookOf([
      step('a', { required: false }),
      step('b', { maxToolCalls: 3, timeoutSeconds: 60 }),
      step('c', { when: 'result("b").go' }),
      step('d'),
    ])
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, { onEvents: (batch) => events.push(...batch) })
    refusal(enforcer, 'd')
    make(enforcer, 'b', { outcome: 'unknown' })
    enforcer.recordToolCall('b', { result: { go: true } })
    make(enforcer, 'c', { outcome: 'failed' })
    enforcer.failCurrentStep('no')
    enforcer.retryStep('c')
    make(enforcer, ['c', 'd'])
    enforcer.recordToolCall('ghost')
    enforcer.finish('done')
    const rebuilt = replay(compilePlaybook(playbook), JSON.parse(JSON.stringify(events)) as RunEvent[])
    expect(writeState(rebuilt)).toEqual(enforcer.snapshot().state)
  })

  it('G11: reset begins another run, and the record of it begins with run.started', () => {
    const types: string[] = []
    const enforcer = enforce(
      [step('a')],
      {},
      { onEvents: (batch) => types.push(...batch.map(({ type }) => type)) },
    )
    make(enforcer, 'a')
    enforcer.reset()
    expect(statuses(enforcer)).toBe('a pending')
    expect(types.filter((type) => type === 'run.started')).toHaveLength(2)
  })
})
