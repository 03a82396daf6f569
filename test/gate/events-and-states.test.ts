import { describe, expect, it } from 'vitest'
import { admit, enforce, fakeClock, make, phase, playbookOf, refusal, statuses, step } from './enforce.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { evolve } from '../../src/run/evolve.ts'
import { replay } from '../../src/run/perform.ts'

describe('replay', () => {
  const playbook = playbookOf([step('a')])
  const compiled = compilePlaybook(playbook)
  const started: RunEvent = {
    type: 'run.started',
    at: 5,
    semantics: 1,
    run: 'r',
    playbook: compiled.digest,
    inputs: {},
    enforced: true,
    finishAttempts: 0,
  }

  it('refuses events that are those of no run: none, another first one, a second start', () => {
    expect(() => replay(compiled, [])).toThrow('a run has at least one event')
    expect(() => replay(compiled, [{ type: 'iteration.started', at: 5, number: 1 }])).toThrow(
      'a run begins with run.started',
    )
    expect(() => replay(compiled, [started, started])).toThrow(
      expect.objectContaining({ code: 'internal', message: 'a run starts once' }),
    )
  })

  it('refuses events of unknown rules, of another playbook, of no step and of no call', () => {
    expect(() => replay(compiled, [{ ...started, semantics: 2 }])).toThrow(
      'The run was started under rules 2, unknown here.',
    )
    expect(() => replay(compiled, [{ ...started, playbook: 'other' }])).toThrow(
      'The run was started with another version of the playbook.',
    )
    expect(() => replay(compiled, [started, { type: 'step.opened', at: 5, step: 'z' }])).toThrow('no step z')
    expect(() =>
      replay(compiled, [started, { type: 'tool.settled', at: 5, callId: 'c', outcome: 'failed' }]),
    ).toThrow('no call c')
  })

  it('keeps the latest time, whatever order the events are in', () => {
    const state = replay(compiled, [started, { type: 'iteration.started', at: 3, number: 1 }])
    expect(state.clock).toBe(5)
    expect(evolve(state, { type: 'iteration.started', at: 9, number: 2 })).toMatchObject({
      clock: 9,
      version: 2,
    })
  })
})

describe('the count of calls', () => {
  const total = (outcomes: readonly ('succeeded' | 'failed' | 'unknown' | 'not_executed')[]) => {
    const enforcer = enforce([step('a', { maxToolCalls: 9 })])
    const { callId } = admit(enforcer, 'a')
    for (const outcome of outcomes) enforcer.recordToolCall('a', { callId: callId!, outcome })
    return enforcer.plan.totalToolCalls
  }

  it('counts a call once, when it may have had an effect, and not if it turns out not to have been made', () => {
    expect(total([])).toBe(0)
    expect(total(['succeeded'])).toBe(1)
    expect(total(['failed'])).toBe(1)
    expect(total(['not_executed'])).toBe(0)
    expect(total(['unknown'])).toBe(1)
    expect(total(['unknown', 'unknown'])).toBe(1)
    expect(total(['unknown', 'succeeded'])).toBe(1)
    expect(total(['unknown', 'not_executed'])).toBe(0)
  })
})

describe('retrying', () => {
  it('G8: a required step that is escalated leaves a failure elsewhere as it is', () => {
    const enforcer = enforce(
      [step('a', { maxToolCalls: 1, onLimit: 'escalate' }), step('b'), step('c', { required: false })],
      { strictSequence: false },
    )
    make(enforcer, 'a', { outcome: 'failed' })
    enforcer.retryStep('a')
    enforcer.failCurrentStep('no')
    expect(statuses(enforcer)).toBe('a failed, b pending, c pending')
    expect(refusal(enforcer, 'b')).toBe('step_failed')
  })

  it('G8: an optional step that failed holds up the end of the run again', () => {
    const enforcer = enforce([step('a', { required: false })])
    enforcer.failCurrentStep('no')
    expect(enforcer.isComplete).toBe(true)
    enforcer.retryStep('a')
    expect(enforcer.isComplete).toBe(false)
    make(enforcer, 'a')
    expect(enforcer.isComplete).toBe(true)
  })

  it('G8: a step that waits for a person, and is failed or completed by one, lets time go on', () => {
    const clock = fakeClock()
    const enforcer = enforce(
      [
        step('a', { maxToolCalls: 1, onLimit: 'escalate', required: false }),
        step('b', { timeoutSeconds: 10 }),
      ],
      { strictSequence: false },
      { clock },
    )
    admit(enforcer, 'b')
    clock.pass(4)
    make(enforcer, 'a', { outcome: 'failed' })
    expect(phase(enforcer, 'a')).toBe('escalated')
    clock.pass(100)
    enforcer.failCurrentStep('never mind')
    clock.pass(5)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a failed, b in_progress')
    clock.pass(1)
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('a failed, b failed')
  })
})

describe('a step that completed with room under its cap', () => {
  it('G4: does not linger where it was declared complete, or where there is no cap', () => {
    const declared = enforce([step('a', { maxToolCalls: 3, completeWhen: 'declared' }), step('b')])
    make(declared, 'a')
    declared.completeCurrentStep()
    expect(phase(declared, 'a')).toBe('closed')
    const uncapped = enforce([step('a'), step('b')])
    make(uncapped, 'a')
    expect(phase(uncapped, 'a')).toBe('closed')
  })

  it('G4: lingers once: what closes it after a second call closes it for good', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b', { maxToolCalls: 3 }), step('c')])
    make(enforcer, ['a', 'a', 'b', 'b'])
    expect(enforcer.snapshot().state.activations.map((each) => each.phase)).toEqual([
      'closed',
      'lingering',
      'open',
    ])
    expect(refusal(enforcer, 'a')).toBe('step_closed')
  })
})

describe('a failed step', () => {
  it('G8: has a beginning and an end although no call of it was made', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a')], {}, { clock })
    clock.pass(1)
    enforcer.failCurrentStep('no')
    expect(enforcer.snapshot().state.activations).toMatchObject([
      { startedAt: 1_001_000, completedAt: 1_001_000 },
    ])
  })
})

describe('a condition', () => {
  const watcher = (condition: string) => step('w', { expectedTools: [], completeWhen: condition })
  const loose = { strictSequence: false } as const

  it('is weighed again whenever a step is skipped, fails, is escalated or begun anew', () => {
    const skipped = enforce([step('a', { required: false }), watcher('steps.a.status == "skipped"')], loose)
    skipped.skipCurrentStep()
    expect(statuses(skipped)).toBe('a skipped, w completed')
    const failed = enforce([step('a', { required: false }), watcher('steps.a.status == "failed"')], loose)
    failed.failCurrentStep('no')
    expect(statuses(failed)).toBe('a failed, w completed')
    const again = enforce(
      [
        step('a', { required: false }),
        step('b'),
        watcher('steps.b.status == "completed" and steps.a.status == "pending"'),
      ],
      loose,
    )
    again.failCurrentStep('no')
    make(again, 'b')
    expect(statuses(again)).toBe('a failed, b completed, w pending')
    again.retryStep('a')
    expect(statuses(again)).toBe('a pending, b completed, w completed')
  })

  it('about calls that were made before its step opened is weighed when it opens', () => {
    const enforcer = enforce([step('a'), watcher('succeeded("a")')])
    make(enforcer, 'a')
    expect(enforcer.isComplete).toBe(true)
  })

  it('G13: of a step that was called before its turn is weighed when something else moves', () => {
    const enforcer = enforce(
      [step('a'), step('b', { completeWhen: 'steps.a.status == "in_progress"' })],
      {},
      { blockViolations: false },
    )
    make(enforcer, 'b')
    expect(statuses(enforcer)).toBe('a pending, b in_progress')
    admit(enforcer, 'a')
    expect(statuses(enforcer)).toBe('a in_progress, b completed')
  })
})

describe('letting time pass', () => {
  it('writes nothing where nothing is due', () => {
    const written: (readonly RunEvent[])[] = []
    const enforcer = enforce([step('a')], {}, { onEvents: (events) => written.push(events) })
    enforcer.checkTime()
    expect(written).toHaveLength(1)
  })
})
