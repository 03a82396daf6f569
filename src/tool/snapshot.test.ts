import { describe, expect, it } from 'vitest'
import { Playbook } from '../playbook/playbook.ts'
import { PlaybookEnforcer } from './playbook-enforcer.ts'
import type { EnforcerSnapshot } from './snapshot.ts'

const playbook = new Playbook({
  id: 'refund',
  name: 'Refund',
  version: '1.2.0',
  allowExtraTools: true,
  maxExtraCalls: 5,
  inputs: { customer: 'string' },
  rules: [{ tool: 'pay', require: 'succeeded("look", id=args.id) and count("pay", id=args.id) == 0' }],
  steps: [
    { id: 'hello', description: 'Greet', expectedTools: ['greet'], required: false },
    { id: 'look', description: 'Look', expectedTools: ['look'], maxToolCalls: 3, timeoutSeconds: 60 },
    { id: 'ask', description: 'Ask', expectedTools: ['ask'], when: 'result("look").unsure', required: false },
    {
      id: 'pay',
      description: 'Pay',
      expectedTools: ['pay', 'note'],
      validation: { requiredResultKeywords: ['ok'] },
    },
    { id: 'talk', description: 'Talk', expectedTools: [] },
  ],
})

/** A run that has seen most of what can happen, put down after so many moves. */
function runUntil(moves: number): PlaybookEnforcer {
  let now = 1000
  const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
    inputs: { customer: 'C-1' },
    clock: () => (now += 10),
  })
  const all: (() => void)[] = [
    () => enforcer.validateToolCall('search', { arguments: { q: [1, { deep: null }] } }),
    () => enforcer.recordToolCall('search', { result: 'found' }),
    () => enforcer.validateToolCall('pay'),
    () => enforcer.validateToolCall('look', { callId: 'l1', arguments: { id: 'O-1' } }),
    () => enforcer.recordToolCall('look', { callId: 'l1', outcome: 'unknown' }),
    () => enforcer.recordToolCall('look', { callId: 'l1', result: { unsure: true } }),
    () => enforcer.validateToolCall('look', { callId: 'l2' }),
    () => enforcer.recordToolCall('look', { outcome: 'failed', error: 'offline' }),
    () => enforcer.beginIteration(),
    () => enforcer.finish('too early'),
    () => enforcer.validateToolCall('ask'),
    () => enforcer.failCurrentStep('nobody answers'),
    () => enforcer.recordToolCall('ask', { outcome: 'not_executed' }),
    () => enforcer.retryStep('ask'),
    () => enforcer.skipCurrentStep('nobody home'),
    () => enforcer.validateToolCall('pay', { arguments: { id: 'O-1' } }),
    () => enforcer.recordToolCall('pay', { result: 'OK' }),
    () => enforcer.recordToolCall('ghost'),
    () => enforcer.validateToolCall('note'),
    () => enforcer.recordToolCall('note'),
    () => enforcer.finish('all done'),
  ]
  for (const move of all.slice(0, moves)) move()
  return enforcer
}

const restore = (snapshot: unknown, options = {}) =>
  PlaybookEnforcer.restore(playbook, snapshot as EnforcerSnapshot, options)
const throughText = (snapshot: EnforcerSnapshot) => JSON.parse(JSON.stringify(snapshot)) as EnforcerSnapshot
type Mutable = Record<'activations' | 'tickets' | 'violations', Record<string, unknown>[]> &
  Record<'toJudge' | 'errors', string[]> &
  Record<'totalToolCalls' | 'semantics' | 'admin', unknown>

describe('snapshot and restore', () => {
  it.each(Array.from({ length: 22 }, (_, moves) => moves))(
    'after %i moves, a run comes back from text as it was',
    (moves) => {
      const enforcer = runUntil(moves)
      const snapshot = enforcer.snapshot()
      const restored = restore(throughText(snapshot), { clock: () => 5000 })
      expect(restored.snapshot()).toEqual(snapshot)
      expect(restored.plan).toEqual(enforcer.plan)
      expect(restored.violations).toEqual(enforcer.violations)
      expect(restored.currentStep?.id).toBe(enforcer.currentStep?.id)
      expect(restored.status).toBe(enforcer.status)
      const proposals = ['greet', 'look', 'ask', 'note', 'search', { tool: 'pay', arguments: { id: 'O-1' } }]
      for (const proposal of proposals) {
        expect(restored.validateToolCalls([proposal])[0]!.code).toBe(
          enforcer.validateToolCalls([proposal])[0]!.code,
        )
      }
    },
  )

  it('ends as it should, so that the moves above mean something', () => {
    const enforcer = runUntil(99)
    expect(enforcer.status).toBe('succeeded')
    expect(enforcer.plan.executions.map(({ status }) => status)).toEqual([
      'skipped',
      'completed',
      'skipped',
      'completed',
      'completed',
    ])
  })

  it('does not change when the run goes on', () => {
    const enforcer = runUntil(4)
    const snapshot = enforcer.snapshot()
    const before = JSON.stringify(snapshot)
    enforcer.recordToolCall('look', { callId: 'l1' })
    enforcer.validateToolCall('nothing!')
    expect(JSON.stringify(snapshot)).toBe(before)
  })

  it('keeps what the run was begun with: inputs, blocking, attempts', () => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
      inputs: { customer: 'C-9' },
      blockViolations: false,
      recordViolations: false,
      finishAttempts: 7,
    })
    const restored = restore(enforcer.snapshot())
    expect(restored.blockViolations).toBe(false)
    expect(restored.recordViolations).toBe(false)
    expect(restored.snapshot().state).toMatchObject({ finishAttempts: 7, inputs: { customer: 'C-9' } })
    restored.reset()
    expect(restored.snapshot().state).toMatchObject({ finishAttempts: 7, inputs: { customer: 'C-9' } })
  })

  it('lets time go on that was counted before', () => {
    let now = 0
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, { inputs: { customer: 'C' }, clock: () => now })
    enforcer.validateToolCall('look', { arguments: { id: 'O' } })
    now = 59_000
    enforcer.recordToolCall('look', { outcome: 'failed' })
    const restored = restore(throughText(enforcer.snapshot()), { clock: () => now })
    expect(restored.validateToolCalls(['look'])[0]!.code).toBeNull()
    now = 60_000
    expect(restored.validateToolCall('look').code).toBe('step_failed')
  })

  it('compares the registry again', () => {
    expect(() => restore(runUntil(3).snapshot(), { tools: [] })).toThrow(
      expect.objectContaining({ code: 'unknown_tool' }),
    )
  })
})

describe('another version of the playbook', () => {
  const changed = (change: (step: { id: string }) => boolean) =>
    new Playbook({ ...playbook, version: '2.0.0', steps: playbook.steps.filter(change) } as never)

  it('is refused, and the message names both', () => {
    const other = changed(() => true)
    expect(() => PlaybookEnforcer.restore(other, runUntil(3).snapshot())).toThrow(
      /refund 1\.2\.0.*refund 2\.0\.0/,
    )
  })

  it('is told by what the playbook says, not by its number', () => {
    const other = new Playbook({ ...playbook, allowExtraTools: false } as never)
    expect(() => PlaybookEnforcer.restore(other, runUntil(3).snapshot())).toThrow(
      expect.objectContaining({ code: 'playbook_mismatch' }),
    )
  })

  it('is taken where it is asked for: what was done stays done, what is new is placed anew', () => {
    const other = changed(({ id }) => id !== 'talk')
    const restored = PlaybookEnforcer.restore(other, runUntil(20).snapshot(), { acceptOtherVersion: true })
    expect(restored.isComplete).toBe(true)
  })

  it('is refused all the same if it lacks a step that has a history', () => {
    const other = changed(({ id }) => id !== 'look')
    expect(() =>
      PlaybookEnforcer.restore(other, runUntil(5).snapshot(), { acceptOtherVersion: true }),
    ).toThrow(expect.objectContaining({ code: 'invalid_snapshot' }))
  })

  it('does not undo an escalation', () => {
    let now = 0
    const one = {
      id: 'a',
      description: 'A',
      expectedTools: ['a'],
      timeoutSeconds: 5,
      onLimit: 'escalate',
    } as const
    const first = PlaybookEnforcer.fromPlaybook(new Playbook({ id: 'p', name: 'P', steps: [one] }), {
      clock: () => now,
    })
    now = 5000
    first.checkTime()
    const other = new Playbook({ id: 'p', name: 'P', version: '2', steps: [one] })
    const restored = PlaybookEnforcer.restore(other, first.snapshot(), {
      acceptOtherVersion: true,
      clock: () => now,
    })
    expect(restored.validateToolCall('a').code).toBe('run_paused')
  })
})

describe('what is no snapshot', () => {
  const refused = expect.objectContaining({ code: 'invalid_snapshot' })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', '{}'],
    ['a list', []],
    ['an empty object', {}],
    ['an object with a method in it', { ...runUntil(1).snapshot(), playbook: { id: () => 1, version: '1' } }],
    ['another format', { ...runUntil(1).snapshot(), format: 'other' }],
    ['a version that is not known yet', { ...runUntil(1).snapshot(), version: 2 }],
    ['one with a key nobody knows', { ...runUntil(1).snapshot(), extra: true }],
  ])('refuses %s', (_, snapshot) => {
    expect(() => restore(snapshot)).toThrow(refused)
  })

  it.each<[string, (state: Mutable) => void]>([
    ['a step that the playbook lacks', (state) => (state.activations[0]!['step'] = 'nonsense')],
    ['the same step twice', (state) => state.activations.push(state.activations[0]!)],
    ['a status nobody knows', (state) => (state.activations[0]!['status'] = 'done')],
    ['a status that does not fit the phase', (state) => (state.activations[1]!['status'] = 'failed')],
    ['a phase that does not fit the status', (state) => (state.activations[0]!['phase'] = 'open')],
    ['a visit of number 0', (state) => (state.activations[0]!['visit'] = 0)],
    ['a time before time', (state) => (state.activations[0]!['activeMs'] = -1)],
    ['the same call twice', (state) => state.tickets.push(state.tickets[0]!)],
    ['a call of a visit that never was', (state) => (state.tickets[1]!['visit'] = 9)],
    ['a call of a step that the playbook lacks', (state) => (state.tickets[1]!['step'] = 'nonsense')],
    ['a settled call without a settlement', (state) => (state.tickets[0]!['settlement'] = null)],
    ['an open call with one', (state) => (state.tickets[0]!['state'] = 'admitted')],
    ['a state nobody knows', (state) => (state.tickets[0]!['state'] = 'lost')],
    ['arguments that are a list', (state) => (state.tickets[0]!['args'] = [])],
    ['arguments that are no JSON', (state) => (state.tickets[0]!['args'] = { f: () => 1 })],
    ['a judgement where there is nothing to judge', (state) => state.toJudge.push('look')],
    ['a judgement of a step that the playbook lacks', (state) => state.toJudge.push('nonsense')],
    ['a violation nobody knows', (state) => (state.violations[0]!['code'] = 'nonsense')],
    ['a number below zero', (state) => (state.totalToolCalls = -1)],
    ['rules nobody knows', (state) => (state.semantics = 2)],
    ['a key nobody knows', (state) => (state.admin = true)],
  ])('refuses one with %s', (_, tamper) => {
    const snapshot = throughText(runUntil(5).snapshot())
    tamper(snapshot.state as never)
    expect(() => restore(snapshot)).toThrow(refused)
  })

  it('says where the trouble is', () => {
    const snapshot = throughText(runUntil(5).snapshot())
    ;(snapshot.state as never as Mutable).tickets[0]!['state'] = 'lost'
    expect(() => restore(snapshot)).toThrow(/state\.tickets\.0\.state/)
  })

  it('does not let a key reach the prototype of anything', () => {
    const text = JSON.stringify(runUntil(5).snapshot()).replace('"q":', '"__proto__":{"polluted":true},"q":')
    const restored = restore(JSON.parse(text))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(restored.snapshot().state.tickets[0]!.args).toHaveProperty(['__proto__'], { polluted: true })
  })

  it('takes more violations and errors than fit on a stack', () => {
    const snapshot = throughText(runUntil(5).snapshot())
    const state = snapshot.state as never as Mutable
    state.errors.push(...Array.from({ length: 1000 }, () => 'x'))
    while (state.errors.length < 300_000) state.errors.push('x')
    expect(restore(snapshot).plan.errors).toHaveLength(300_000)
  })
})
