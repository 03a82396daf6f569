import { expect, test } from 'vitest'
import { Playbook, type PlaybookDefinition } from '../playbook/playbook.ts'
import type { PlaybookStepDefinition } from '../playbook/playbook-step.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'

let now = 0

function start(
  steps: readonly Omit<PlaybookStepDefinition, 'description'>[],
  others: Partial<PlaybookDefinition> & { blockViolations?: boolean } = {},
): PlaybookEnforcer {
  const { blockViolations = true, ...definition } = others
  now = 1_000_000
  const playbook = new Playbook({
    id: 'p',
    name: 'P',
    ...definition,
    steps: steps.map((step) => ({ ...step, description: '' })),
  })
  return PlaybookEnforcer.fromPlaybook(playbook, { clock: () => now, blockViolations })
}

function call(enforcer: PlaybookEnforcer, tool: string): void {
  enforcer.validateToolCall(tool)
  enforcer.recordToolCall(tool)
}

function statuses(enforcer: PlaybookEnforcer): string[] {
  return enforcer.plan.executions.map(({ status }) => status)
}

test('a condition about a step is weighed again when a host moves that step', () => {
  const enforcer = start(
    [
      { id: 'approve' },
      { id: 'pay', expectedTools: ['pay'], completeWhen: 'steps.approve.status == "completed"' },
    ],
    { strictSequence: false },
  )
  expect(enforcer.completeCurrentStep()).toBe(false)
  expect(statuses(enforcer)).toEqual(['completed', 'completed'])
})

test('a condition that counts calls is weighed again when one is admitted', () => {
  const enforcer = start(
    [
      { id: 'work', expectedTools: ['a'] },
      { id: 'watch', completeWhen: 'count("a") > 0' },
    ],
    { strictSequence: false },
  )
  enforcer.validateToolCall('a')
  expect(statuses(enforcer)).toEqual(['in_progress', 'completed'])
})

test('a cap of none is used up when the step opens, and on_limit decides (G8)', () => {
  const enforcer = start([
    { id: 's1', expectedTools: ['a'], maxToolCalls: 0, onLimit: 'advance' },
    { id: 's2', maxToolCalls: 0, validation: { expression: 'calls > 0' } },
  ])
  expect(statuses(enforcer)).toEqual(['completed', 'failed'])
})

test('what one call did for several steps counts before the cap of any of them', () => {
  const enforcer = start(
    [
      { id: 's1', expectedTools: ['a'], maxToolCalls: 1, completeWhen: 'steps.s2.status == "completed"' },
      { id: 's2', completeWhen: 'succeeded("a")' },
    ],
    { strictSequence: false },
  )
  call(enforcer, 'a')
  expect(statuses(enforcer)).toEqual(['completed', 'completed'])
})

test('of several steps whose cap is used up, the first in the list reaches its limit first (G8)', () => {
  const enforcer = start(
    [
      { id: 's1', expectedTools: ['a'], maxToolCalls: 0, onLimit: 'advance', when: 'not succeeded("a")' },
      { id: 's2', maxToolCalls: 0, completeWhen: 'steps.s1.status == "completed"' },
    ],
    { strictSequence: false },
  )
  expect(statuses(enforcer)).toEqual(['completed', 'completed'])
})

test('time does not count against a step that was due for no time at all (G8)', () => {
  const enforcer = start(
    [
      { id: 's1', when: 'steps.s2.status == "pending"' },
      { id: 's2', expectedTools: ['a'], timeoutSeconds: 1 },
    ],
    { strictSequence: false },
  )
  now += 5000
  enforcer.checkTime()
  expect(statuses(enforcer)).toEqual(['pending', 'pending'])
})

test('of several steps whose time is over, the first in the list reaches its limit first (G8)', () => {
  const enforcer = start(
    [
      { id: 's1', expectedTools: ['a'], timeoutSeconds: 1 },
      { id: 's2', expectedTools: ['b'], timeoutSeconds: 1 },
      { id: 's3', expectedTools: ['c'], required: false },
    ],
    { strictSequence: false },
  )
  enforcer.validateToolCall('b')
  now += 5000
  enforcer.checkTime()
  expect(statuses(enforcer)).toEqual(['failed', 'in_progress', 'pending'])
})

test('a step that a limit completes before its turn is marked out of order (G13)', () => {
  const enforcer = start(
    [
      { id: 's1', expectedTools: ['a'] },
      { id: 's2', expectedTools: ['b', 'c'], maxToolCalls: 1, onLimit: 'advance' },
    ],
    { blockViolations: false },
  )
  call(enforcer, 'b')
  expect(enforcer.plan.executions[1]).toMatchObject({ status: 'completed', by: 'limit', outOfOrder: true })
})

test('a step that the final answer declares is not judged any more, so that the run can be taken up again (G9)', () => {
  const enforcer = start([
    { id: 's1', expectedTools: ['a'], required: false },
    { id: 's2', when: 'steps.s1.status == "skipped"' },
  ])
  expect(enforcer.finish()).toMatchObject({ accepted: true })
  expect(PlaybookEnforcer.restore(enforcer.playbook, enforcer.snapshot()).status).toBe('succeeded')
})

test('a failed step that nothing leans on can be retried, although a step after it has begun another way', () => {
  const enforcer = start([
    { id: 's1', expectedTools: ['a'] },
    { id: 's2', expectedTools: ['b'] },
    { id: 's3', expectedTools: ['c'], after: { any: ['s1', 's2'] } },
  ])
  call(enforcer, 'b')
  call(enforcer, 'c')
  enforcer.failCurrentStep('no')
  enforcer.retryStep('s1')
  call(enforcer, 'a')
  expect(enforcer.isComplete).toBe(true)
})
