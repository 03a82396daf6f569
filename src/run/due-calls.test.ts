import { describe, expect, test } from 'vitest'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { parsePlaybook } from '../playbook/parse-playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import { type DueCall, dueCalls } from './due-calls.ts'
import { perform, startRun } from './perform.ts'
import type { RunState } from './state.ts'

function begin(file: JsonObject, inputs: JsonObject = {}, enforced = true): RunState {
  const { playbook, diagnostics } = parsePlaybook(JSON.stringify({ name: 'p', ...file }), { format: 'json' })
  if (playbook === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return startRun(compilePlaybook(playbook), { run: 'r', inputs, enforced, finishAttempts: 2 }, { now: 0 })
    .state
}

function call(state: RunState, { callId, tool, args }: Pick<DueCall, 'callId' | 'tool' | 'args'>, now = 0) {
  return perform(state, { type: 'call', callId, tool, args }, { now, risk: 'write' }).answer
}

function settle(state: RunState, callId: string, outcome: 'succeeded' | 'failed' = 'succeeded', now = 0) {
  const { tool } = state.byCallId.get(callId)!
  return perform(state, { type: 'settle', callId, tool, outcome, result: callId }, { now })
}

const two = {
  steps: [
    { name: 'a', tool: 'do', input: { n: 1 }, retry: { attempts: 2, delay_seconds: 1 } },
    { name: 'b', tool: 'other' },
  ],
}

describe('the due call, to the letter', () => {
  const a = { callId: 'a', tool: 'do', args: { n: 1 } }

  test('is let through, and is then not due any more (U1)', () => {
    const state = begin(two)
    expect(dueCalls(state, 0).due).toMatchObject([{ ...a, key: 'a', purpose: 'call', of: null, step: 'a' }])
    expect(call(state, a)).toMatchObject([{ type: 'tool.admitted', step: 'a' }])
    expect(dueCalls(state, 0).due).toEqual([])
    expect(call(state, a)).toMatchObject([{ code: 'duplicate_call' }])
  })

  test.each([
    ['other arguments', { ...a, args: { n: 2 } }],
    ['no arguments', { ...a, args: {} }],
    ['another tool', { ...a, tool: 'other' }],
    ['the id of a later step', { callId: 'b', tool: 'other', args: {} }],
    ['a second attempt before the first', { ...a, callId: 'a~2' }],
    ['an id that is written otherwise', { ...a, callId: 'a~1' }],
    ['an item of a step that has none', { ...a, callId: 'a[0]' }],
    ['a check of a step that has none', { ...a, callId: 'a?' }],
    ['another visit', { ...a, callId: 'a#2' }],
  ])('anything else under its id is refused, and changes nothing: %s', (_, request) => {
    for (const enforced of [true, false]) {
      const state = begin(two, {}, enforced)
      expect(call(state, request)).toMatchObject([
        { type: 'tool.denied', code: 'out_of_sequence', blocked: true },
      ])
      expect(dueCalls(state, 0).due).toHaveLength(1)
      expect(state.activations[0]?.status).toBe('pending')
    }
  })

  test('a retry is not let through before its time', () => {
    const state = begin(two)
    call(state, a)
    settle(state, 'a', 'failed', 500)
    expect(dueCalls(state, 1499)).toEqual({ due: [], next: 1500, expires: null })
    expect(call(state, { ...a, callId: 'a~2' }, 1499)).toMatchObject([{ code: 'out_of_sequence' }])
    expect(call(state, { ...a, callId: 'a~2' }, 1500)).toMatchObject([{ type: 'tool.admitted' }])
  })
})

describe('the calls of others', () => {
  const mixed = {
    allow_extra_tools: true,
    steps: [
      { id: 'look', description: 'Look', expected_tools: ['see', 'both'] },
      {
        name: 'a',
        tool: 'do',
        verify: { tool: 'check', expect: 'result' },
        compensate: { tool: 'undo' },
      },
      { name: 'b', tool: 'both' },
    ],
  }

  test.each(['do', 'check', 'undo'])('never reach %s, which only the runtime calls', (tool) => {
    const state = begin(mixed)
    const request = { type: 'call', callId: null, tool, args: {} } as const
    expect(perform(state, request, { now: 0 }).answer).toMatchObject([{ code: 'out_of_sequence' }])
  })

  test('of a tool that both use belong to the step for a model, and never to the call step', () => {
    const state = begin(mixed)
    const both = { type: 'call', callId: null, tool: 'both', args: {} } as const
    expect(perform(state, both, { now: 0 }).answer).toMatchObject([{ type: 'tool.admitted', step: 'look' }])
    settle(state, 'call-1')
    perform(state, { type: 'call', callId: 'x', tool: 'see', args: {} }, { now: 0 })
    settle(state, 'x')
    expect(dueCalls(state, 0).due.map(({ callId }) => callId)).toEqual(['a'])
    expect(perform(state, both, { now: 0 }).answer).toMatchObject([{ type: 'tool.denied' }])
  })

  test('cannot pass over a call step, however optional it is', () => {
    const state = begin({
      steps: [
        { name: 'a', tool: 'do', required: false },
        { id: 'look', description: 'Look', expected_tools: ['see'] },
      ],
    })
    const see = { type: 'call', callId: null, tool: 'see', args: {} } as const
    expect(perform(state, see, { now: 0 }).answer).toMatchObject([{ code: 'out_of_sequence' }])
  })

  test('a model cannot move a call step, a host can', () => {
    const state = begin(two)
    const by = { step: 'a', result: null } as const
    expect(perform(state, { type: 'complete', by: 'model', ...by }, { now: 0 }).answer).toMatchObject([
      { type: 'step.refused', reasons: ['its call is made by the runtime, not by a model'] },
    ])
    expect(perform(state, { type: 'complete', by: 'host', ...by }, { now: 0 }).answer).toMatchObject([
      { type: 'step.completed' },
    ])
    expect(dueCalls(state, 0).due.map(({ callId }) => callId)).toEqual(['b'])
  })
})

test('a step goes through 10,000 items at most', () => {
  const file = { inputs: { items: 'array' }, steps: [{ name: 'a', tool: 'do', foreach: '{inputs.items}' }] }
  const of = (count: number) => begin(file, { items: Array.from({ length: count }, () => 0) })
  expect(of(10_000).ended).toBeNull()
  const { ended, message } = of(10_001)
  expect({ ended, message }).toEqual({
    ended: 'failed',
    message: 'Step a: foreach: {inputs.items} has 10001 items, and 10000 are the most',
  })
})

test('a step that is begun anew has ids of its own', () => {
  const state = begin({
    steps: [
      { name: 'a', tool: 'do', timeout_seconds: 1, on_limit: 'escalate' },
      { name: 'b', tool: 'do' },
    ],
  })
  call(state, { callId: 'a', tool: 'do', args: {} })
  perform(state, { type: 'settle', callId: 'a', tool: 'do', outcome: 'not_executed' }, { now: 2000 })
  expect(dueCalls(state, 2000).due).toEqual([])
  perform(state, { type: 'retry', step: 'a', reason: null }, { now: 3000 })
  expect(dueCalls(state, 3000).due).toMatchObject([{ callId: 'a#2', key: 'a#2' }])
})

describe('the cost of a call (U2)', () => {
  test('does not grow with the steps of the runbook', () => {
    const steps = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `s${index}`, tool: 'do' }))
    expect(perCall(begin({ steps: steps(3_000) }))).toBeLessThan(
      20 * perCall(begin({ steps: steps(300) })) + 0.2,
    )
  })

  test('does not grow with the items of a step', () => {
    const each = { steps: [{ name: 'a', tool: 'do', foreach: '{inputs.items}', concurrency: 50 }] }
    const file = { inputs: { items: 'array' }, ...each }
    const items = (count: number) => ({ items: Array.from({ length: count }, (_, index) => index) })
    expect(perCall(begin(file, items(10_000)))).toBeLessThan(20 * perCall(begin(file, items(500))) + 0.2)
  })
})

/** Milliseconds for each call of a run that is driven to its end. */
function perCall(state: RunState): number {
  const began = performance.now()
  let made = 0
  for (;;) {
    const { due } = dueCalls(state, 0)
    if (due.length === 0) break
    for (const each of due) {
      call(state, each)
      made++
    }
    for (const { callId } of due) settle(state, callId)
  }
  expect(state.ended).toBe('succeeded')
  return (performance.now() - began) / made
}
