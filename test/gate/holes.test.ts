/**
 * The holes of the system that the vocabulary comes from, each shown closed. The numbers are those of
 * docs/decisions/2026-11-15-the-sixteen-holes.md.
 */
import { describe, expect, it } from 'vitest'
import * as playbookModule from '../../src/playbook/playbook.ts'
import { PlaybookLoader } from '../../src/source/playbook-loader.ts'
import { loadPlaybook } from '../../src/source/load-playbook.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { tool } from '../../src/tool/tool.ts'
import { admit, enforce, fakeClock, forecast, make, playbookOf, refusal, statuses, step } from './enforce.ts'

const three = [step('a'), step('b'), step('c')]

describe('the sixteen holes', () => {
  it('hole 1: a run that is taken up again passes the same gate', async () => {
    const first = enforce(three)
    make(first, 'a')
    const resumed = PlaybookEnforcer.restore(first.playbook, first.snapshot())
    let ran = false
    const outcome = await resumed.call('c', {}, () => (ran = true))
    expect(outcome).toMatchObject({ status: 'denied', enforcement: { code: 'out_of_sequence' } })
    expect(ran).toBe(false)
    make(resumed, 'b')
  })

  it('hole 1: a call that was interrupted is credited when its outcome is known, in whatever process', () => {
    const first = enforce(three)
    const { callId } = admit(first, 'a')
    const resumed = PlaybookEnforcer.restore(first.playbook, first.snapshot())
    resumed.recordToolCall('a', { callId: callId! })
    expect(statuses(resumed)).toBe('a completed, b pending, c pending')
  })

  it('hole 2: a batch cannot overrun a cap, and surplus calls are not credited to the next step', async () => {
    let ran = 0
    const enforcer = enforce([step('a', { maxToolCalls: 1 }), step('b')])
    const outcomes = await enforcer.callAll(
      Array.from({ length: 3 }, () => ({ tool: 'a', risk: 'read' as const, execute: () => ++ran })),
    )
    expect(ran).toBe(1)
    expect(outcomes.map(({ status }) => status)).toEqual(['succeeded', 'denied', 'denied'])
    expect(statuses(enforcer)).toBe('a completed, b pending')
    expect(enforcer.plan.getStepExecution('b')).toBeNull()
  })

  it('hole 2: validating a batch before running any of it reserves each slot', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 }), step('b')])
    const verdicts = ['a', 'a', 'a'].map((name) => enforcer.validateToolCall(name).allowed)
    expect(verdicts).toEqual([true, false, false])
    enforcer.recordToolCall('a')
    enforcer.recordToolCall('a')
    enforcer.recordToolCall('a')
    expect(statuses(enforcer)).toBe('a completed, b pending')
  })

  it('hole 3: a batch across two steps goes through: the first call completes the step before the second', async () => {
    const enforcer = enforce(three)
    const outcomes = await enforcer.callAll(
      ['a', 'b', 'c'].map((name) => ({ tool: name, risk: 'read' as const, execute: () => name })),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(enforcer.isComplete).toBe(true)
  })

  it('hole 4: a refused call leaves nothing behind that spoils the same call later', async () => {
    const lookup = tool({
      name: 'b',
      description: 'B',
      risk: 'read',
      idempotent: true,
      execute: () => 'fresh',
    })
    const a = tool({ name: 'a', description: 'A', execute: () => 1 })
    const c = tool({ name: 'c', description: 'C', execute: () => 1 })
    const enforcer = enforce(three, {}, { tools: [a, lookup, c] })
    expect((await enforcer.call('b', { id: 1 })).status).toBe('denied')
    await enforcer.call('a', {})
    expect(await enforcer.call('b', { id: 1 })).toMatchObject({ status: 'succeeded', result: 'fresh' })
  })

  it('hole 4: the same call twice is two calls, each counted', async () => {
    const b = tool({ name: 'b', description: 'B', risk: 'read', idempotent: true, execute: () => 'same' })
    const enforcer = enforce([step('b', { validation: { minToolCalls: 2 } })], {}, { tools: [b] })
    await enforcer.call('b', { id: 1 })
    expect(statuses(enforcer)).toBe('b in_progress')
    await enforcer.call('b', { id: 1 })
    expect(statuses(enforcer)).toBe('b completed')
  })

  it('hole 5: a failed call does not count as done', () => {
    const enforcer = enforce([step('s', { expectedTools: ['a', 'b'] })])
    make(enforcer, 'a', { outcome: 'failed' })
    make(enforcer, 'b')
    expect(statuses(enforcer)).toBe('s in_progress')
    make(enforcer, 'a')
    expect(statuses(enforcer)).toBe('s completed')
  })

  it('hole 6: failures that use up a cap end in a failed step that can be retried, not in a deadlock', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2 }), step('b')])
    make(enforcer, ['a', 'a'], { outcome: 'failed' })
    expect(statuses(enforcer)).toBe('a failed, b pending')
    enforcer.retryStep('a')
    make(enforcer, ['a', 'b'])
    expect(enforcer.isComplete).toBe(true)
  })

  it('hole 7: reaching a cap is no success', () => {
    const enforcer = enforce([step('s', { expectedTools: ['a', 'b'], maxToolCalls: 2 }), step('next')])
    make(enforcer, ['a', 'a'])
    expect(statuses(enforcer)).toBe('s failed, next pending')
  })

  it('hole 7: extras do not use up the cap of a step that does not admit them', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 })], { allowExtraTools: true })
    make(enforcer, ['x', 'y', 'z'])
    make(enforcer, 'a')
    expect(enforcer.isComplete).toBe(true)
  })

  it('hole 8: a step without tools admits none, can be declared done, and so the plan can complete', () => {
    const enforcer = enforce([step('a'), step('summary', { expectedTools: [] })])
    make(enforcer, 'a')
    expect(refusal(enforcer, 'anything')).toBe('unexpected_tool')
    expect(enforcer.finish('the summary').accepted).toBe(true)
    expect(enforcer.isComplete).toBe(true)
  })

  it.each(['submit', 'done', 'finish', 'complete', 'task_complete'])(
    'hole 9: a refused tool called %s ends nothing: only finish does, and it is gated',
    (name) => {
      const enforcer = enforce([step('a'), step('end', { expectedTools: [name] })])
      expect(refusal(enforcer, name)).toBe('out_of_sequence')
      expect(enforcer.status).toBeNull()
      expect(refusal(enforcer, 'a')).toBeNull()
    },
  )

  it('hole 10: finishing early, or without any call, is no success', () => {
    const enforcer = enforce(three)
    expect(enforcer.finish('done!')).toMatchObject({ accepted: false, remaining: ['a', 'b', 'c'] })
    enforcer.finish()
    expect(enforcer.finish().status).toBe('incomplete')
  })

  it('hole 10: an early end is in the record', () => {
    const types: string[] = []
    const enforcer = enforce(
      three,
      {},
      { onEvents: (events) => types.push(...events.map(({ type }) => type)) },
    )
    enforcer.finish('done!')
    expect(types).toContain('finish.refused')
  })

  it('hole 11: where nothing is blocked, nothing is blocked after completion either', () => {
    const enforcer = enforce([step('a')], {}, { blockViolations: false })
    make(enforcer, 'a')
    expect(enforcer.validateToolCall('x')).toMatchObject({
      allowed: true,
      violation: { violationType: 'playbook_complete', blocked: false },
    })
  })

  it('hole 12: every run has a plan of its own: a second one starts at the first step', () => {
    const playbook = playbookOf(three)
    const first = PlaybookEnforcer.fromPlaybook(playbook)
    make(first, ['a', 'b', 'c'])
    const second = PlaybookEnforcer.fromPlaybook(playbook)
    expect(second.currentStep?.id).toBe('a')
    make(second, ['a', 'b', 'c'])
  })

  it('hole 12: the plan is kept with the run, so another process goes on where it stood', () => {
    const first = enforce(three)
    make(first, 'a')
    const stored = JSON.stringify(first.snapshot())
    const elsewhere = PlaybookEnforcer.restore(playbookOf(three), JSON.parse(stored) as never)
    expect(elsewhere.currentStep?.id).toBe('b')
    expect(refusal(elsewhere, 'a')).toBe('step_closed')
  })

  it('hole 13: a second attempt is a call of its own: judged, recorded and credited', async () => {
    let attempt = 0
    const work = () => (++attempt === 1 ? Promise.reject(new Error('flaky')) : Promise.resolve('good'))
    const enforcer = enforce([step('a')])
    const first = await enforcer.call('a', {}, work, { risk: 'read' })
    expect(first).toMatchObject({ status: 'failed', error: 'flaky' })
    expect(await enforcer.call('a', {}, work, { risk: 'read' })).toMatchObject({
      status: 'succeeded',
      result: 'good',
    })
    expect(enforcer.plan.getStepExecution('a')?.calls.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['failed', 'flaky'],
      ['succeeded', null],
    ])
  })

  it('hole 14: a skipped step counts as done: progress reaches 1, and it is pending no more', () => {
    const enforcer = enforce([step('a', { required: false }), step('b')])
    enforcer.skipCurrentStep()
    make(enforcer, 'b')
    expect(enforcer.isComplete).toBe(true)
    expect(enforcer.progress).toBe(1)
    expect(enforcer.plan.pendingSteps).toEqual([])
  })

  it('hole 14: a playbook without steps is complete', () => {
    const enforcer = enforce([])
    expect([enforcer.isComplete, enforcer.progress, enforcer.plan.completed]).toEqual([true, 1, true])
  })

  it('hole 14: a cap of 0 permits no call', () => {
    const enforcer = enforce([step('talk', { expectedTools: ['*'], maxToolCalls: 0 })])
    expect(refusal(enforcer, 'x')).toBe('max_tool_calls')
    expect(enforcer.completeCurrentStep()).toBe(false)
  })

  it('hole 14: a failed step stays failed, whatever is called after', () => {
    const enforcer = enforce(three)
    admit(enforcer, 'a')
    enforcer.failCurrentStep('no')
    refusal(enforcer, 'a')
    enforcer.recordToolCall('a')
    enforcer.recordToolCall('a')
    expect(enforcer.plan.getStepExecution('a')?.status).toBe('failed')
  })

  it.each<[string, string]>([
    ['a typing error in a key', 'id: p\nname: P\nsteps:\n  - {id: a, description: A, expected_tool: [x]}\n'],
    ['a negative cap', 'id: p\nname: P\nsteps:\n  - {id: a, description: A, max_tool_calls: -1}\n'],
    ['an empty id', 'id: p\nname: P\nsteps:\n  - {id: "", description: A}\n'],
    [
      'the same id twice',
      'id: p\nname: P\nsteps:\n  - {id: a, description: A}\n  - {id: a, description: B}\n',
    ],
    ['the same key twice', 'id: p\nname: P\nname: Q\n'],
    ['a list for an id', 'id: p\nname: P\nsteps:\n  - {id: [a], description: A}\n'],
  ])('hole 15: %s is an error with its place', (_, yaml) => {
    const loading = () => new PlaybookLoader().loadYamlString(yaml)
    expect(loading).toThrow(expect.objectContaining({ code: 'invalid_playbook' }))
    expect(loading).toThrow(/line \d/)
  })

  it('hole 15: the constructor is as strict as the loader', () => {
    expect(() => playbookOf([step('a'), step('a')])).toThrow(/duplicate/)
    expect(() => playbookOf([step('a', { maxToolCalls: -1 })])).toThrow(/maxToolCalls/)
  })

  it('hole 15: a long JSON text is a text, not the name of a file', async () => {
    const text = JSON.stringify({ id: 'p', name: 'P', description: 'x'.repeat(5000) })
    expect((await loadPlaybook(text)).id).toBe('p')
  })

  it('hole 15: a tool that the registry lacks is found before the run', () => {
    const a = tool({ name: 'lookup_order', description: 'A', execute: () => 1 })
    expect(() => enforce([step('a', { expectedTools: ['lookup_ordre'] })], {}, { tools: [a] })).toThrow(
      expect.objectContaining({
        code: 'unknown_tool',
        hint: "Did you mean 'lookup_order' instead of 'lookup_ordre'?",
      }),
    )
  })

  it('hole 16: there is one type of playbook, and what is not one is no playbook to the enforcer', () => {
    expect(Object.keys(playbookModule).filter((name) => /^Playbook$/.test(name))).toEqual(['Playbook'])
    expect(enforce(three).playbook).toBeInstanceOf(playbookModule.Playbook)
    const lookalike = { id: 'p', name: 'P', steps: [], inputs: {} }
    expect(() => PlaybookEnforcer.fromPlaybook(lookalike as never)).toThrow()
  })
})

describe('what was documented there and not enforced, is enforced here', () => {
  it('strict_sequence: false lets steps be worked on in any order', () => {
    const enforcer = enforce(three, { strictSequence: false })
    make(enforcer, ['c', 'b', 'a'])
    expect(enforcer.isComplete).toBe(true)
    expect(enforcer.violations).toEqual([])
  })

  it('validation decides whether a step is complete', () => {
    const enforcer = enforce([step('a', { validation: { requiredResultKeywords: ['healthy'] } })])
    make(enforcer, 'a', { result: 'sick' })
    expect(statuses(enforcer)).toBe('a in_progress')
    make(enforcer, 'a', { result: 'healthy again' })
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('timeout_seconds ends a step', () => {
    const clock = fakeClock()
    const enforcer = enforce([step('a', { timeoutSeconds: 30 })], {}, { clock })
    clock.pass(30)
    expect(refusal(enforcer, 'a')).toBe('step_failed')
  })

  it('max_iterations ends the turns', () => {
    const enforcer = enforce(three, { maxIterations: 1 })
    expect([enforcer.beginIteration(), enforcer.beginIteration()]).toEqual([true, false])
  })

  it('required: false means that a step can be passed over, required that it cannot', () => {
    const enforcer = enforce([step('a', { required: false }), step('b'), step('c')])
    expect(forecast(enforcer, 'c')).toBe('out_of_sequence')
    make(enforcer, 'b')
    expect(statuses(enforcer)).toBe('a skipped, b completed, c pending')
  })

  it('plan.executions gives the executions in the order of the steps', () => {
    const enforcer = enforce(three)
    make(enforcer, 'a')
    expect(enforcer.plan.executions.map(({ stepId, status }) => `${stepId} ${status}`)).toEqual([
      'a completed',
      'b pending',
      'c pending',
    ])
  })

  it('the record is more than names: arguments, results, outcomes and times', () => {
    const enforcer = enforce([step('a')], {}, { clock: () => 42 })
    make(enforcer, 'a', { result: { ok: true } }, { order: 'O-1' })
    expect(enforcer.plan.getStepExecution('a')?.calls).toMatchObject([
      {
        tool: 'a',
        arguments: { order: 'O-1' },
        result: { ok: true },
        outcome: 'succeeded',
        admittedAt: new Date(42),
        settledAt: new Date(42),
      },
    ])
  })
})
