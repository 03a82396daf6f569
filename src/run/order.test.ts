import { describe, expect, it } from 'vitest'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { Playbook, type PlaybookDefinition } from '../playbook/playbook.ts'
import type { PlaybookStepDefinition } from '../playbook/playbook-step.ts'
import { arePredecessorsMet, insertSorted, isMet, passedOver, removeFrom } from './order.ts'
import { perform, startRun } from './perform.ts'
import type { RunState } from './state.ts'
import { ownTime } from '../shared/own-time.suite.ts'

function stateOf(
  steps: readonly PlaybookStepDefinition[],
  fields: Partial<PlaybookDefinition> = {},
): RunState {
  const playbook = new Playbook({ id: 'p', name: 'P', ...fields, steps })
  return startRun(
    compilePlaybook(playbook),
    { inputs: {}, run: 'r', enforced: true, finishAttempts: 2 },
    { now: 0 },
  ).state
}

const optional = (id: string, fields: Partial<PlaybookStepDefinition> = {}): PlaybookStepDefinition => ({
  id,
  description: id,
  expectedTools: [id],
  required: false,
  ...fields,
})
const required = (id: string, fields: Partial<PlaybookStepDefinition> = {}) =>
  optional(id, { required: true, ...fields })

function passed(state: RunState, id: string): string[] | null {
  const step = state.compiled.steps[state.compiled.positions.get(id)!]!
  return passedOver(state, step)?.map((index) => state.compiled.steps[index]!.id) ?? null
}

function call(state: RunState, tool: string): void {
  perform(state, { type: 'call', callId: null, tool, args: null }, { now: 0 })
}

describe('isMet', () => {
  it.each([
    ['completed', true, true],
    ['skipped', true, true],
    ['failed', false, true],
    ['failed', true, false],
    ['in_progress', true, false],
    ['pending', true, false],
  ] as const)('a step that is %s (required: %s) is met: %s', (status, isRequired, met) => {
    const state = stateOf([optional('a', { required: isRequired })])
    state.activations[0]!.status = status
    expect(isMet(state, 0)).toBe(met)
  })

  it('a step that nobody has looked at is not met', () => {
    expect(isMet(stateOf([required('a'), required('b')]), 1)).toBe(false)
  })
})

describe('arePredecessorsMet', () => {
  it('is true where nothing comes before, and follows all and any', () => {
    const state = stateOf([
      required('a'),
      required('b'),
      required('all', { after: ['a', 'b'] }),
      required('any', { after: { any: ['a', 'b'] } }),
    ])
    const met = (index: number) => arePredecessorsMet(state, state.compiled.steps[index]!.predecessors)
    expect([met(0), met(2), met(3)]).toEqual([true, false, false])
    state.activations[1]!.status = 'skipped'
    expect([met(2), met(3)]).toEqual([false, true])
    state.activations[0]!.status = 'completed'
    expect(met(2)).toBe(true)
  })
})

describe('passedOver', () => {
  it('is empty where nothing stands in the way', () => {
    expect(passed(stateOf([required('a'), required('b')]), 'a')).toEqual([])
  })

  it('names the optional steps before, earliest first', () => {
    const state = stateOf([optional('a'), optional('b'), required('c')])
    expect(passed(state, 'c')).toEqual(['a', 'b'])
    expect(passed(state, 'b')).toEqual(['a'])
  })

  it('is null behind a required step, and behind an open ticket anywhere on the way', () => {
    const state = stateOf([optional('a'), optional('b'), required('c'), required('d')])
    expect(passed(state, 'd')).toBeNull()
    call(state, 'a')
    expect(passed(state, 'b')).toBeNull()
    expect(passed(state, 'c')).toBeNull()
  })

  it('stops at what is met: nothing before that matters', () => {
    const state = stateOf([required('a'), optional('b'), optional('c'), required('d')])
    call(state, 'a')
    perform(state, { type: 'settle', callId: null, tool: 'a', outcome: 'succeeded' }, { now: 0 })
    expect(passed(state, 'd')).toEqual(['b', 'c'])
  })

  it('passes every member of an all group, with what stands before each, once', () => {
    const state = stateOf([
      optional('root'),
      optional('l', { after: 'root' }),
      optional('r', { after: 'root' }),
      required('end', { after: ['l', 'r'] }),
    ])
    expect(passed(state, 'end')).toEqual(['root', 'l', 'r'])
  })

  it('is null where one member of an all group cannot be passed', () => {
    const state = stateOf([optional('a'), required('b'), required('c', { after: ['a', 'b'] })])
    expect(passed(state, 'c')).toBeNull()
  })

  it('passes only the first member of an any group that can be cleared', () => {
    const state = stateOf([
      required('a'),
      optional('b', { after: 'a' }),
      optional('c'),
      optional('d'),
      required('e', { after: { any: ['a', 'b', 'c', 'd'] } }),
    ])
    expect(passed(state, 'e')).toEqual(['c'])
  })

  it('leaves no trace of members that were tried in vain', () => {
    const state = stateOf([
      required('wall'),
      optional('x'),
      optional('tried', { after: ['x', 'wall'] }),
      optional('y'),
      required('end', { after: { any: ['tried', 'y'] } }),
    ])
    expect(passed(state, 'end')).toEqual(['y'])
  })

  it('handles 10,000 optional steps in a row without running out of stack or time', () => {
    const steps = Array.from({ length: 10_000 }, (_, n) => optional(`s${n}`))
    const state = stateOf([...steps, required('end')])
    const began = ownTime()
    expect(passed(state, 'end')).toHaveLength(10_000)
    expect(ownTime() - began).toBeLessThan(500)
  })

  it('handles any groups stacked 40 high, which have 2⁴⁰ paths, in no time', () => {
    const steps: PlaybookStepDefinition[] = [
      required('wall'),
      optional('l0', { after: 'wall' }),
      optional('r0', { after: 'wall' }),
    ]
    for (let n = 1; n <= 40; n++) {
      const after = { any: [`l${n - 1}`, `r${n - 1}`] }
      steps.push(optional(`l${n}`, { after }), optional(`r${n}`, { after }))
    }
    steps.push(required('end', { after: { any: ['l40', 'r40'] } }))
    const began = ownTime()
    expect(passed(stateOf(steps), 'end')).toBeNull()
    expect(ownTime() - began).toBeLessThan(2000)
  })

  it('handles all groups stacked 40 high just as well', () => {
    const steps: PlaybookStepDefinition[] = [optional('l0'), optional('r0')]
    for (let n = 1; n <= 40; n++) {
      const after = { all: [`l${n - 1}`, `r${n - 1}`] }
      steps.push(optional(`l${n}`, { after }), optional(`r${n}`, { after }))
    }
    steps.push(required('end', { after: ['l40', 'r40'] }))
    expect(passed(stateOf(steps), 'end')).toHaveLength(82)
  })

  it('handles any groups stacked 2,000 high without running out of stack', () => {
    const steps: PlaybookStepDefinition[] = [optional('l0'), optional('r0')]
    for (let n = 1; n <= 2000; n++) {
      const after = { any: [`l${n - 1}`, `r${n - 1}`] }
      steps.push(optional(`l${n}`, { after }), optional(`r${n}`, { after }))
    }
    steps.push(required('end', { after: { any: ['l2000', 'r2000'] } }))
    expect(passed(stateOf(steps), 'end')).toHaveLength(2001)
  })
})

describe('lists kept in order', () => {
  it('inserts a position once, where it belongs', () => {
    const list: number[] = []
    for (const index of [5, 1, 9, 5, 3, 1]) insertSorted(list, index)
    expect(list).toEqual([1, 3, 5, 9])
  })

  it.each([
    [1, [2, 3]],
    [2, [1, 3]],
    [3, [1, 2]],
    [4, [1, 2, 3]],
  ])('takes %i out of 1, 2, 3', (item, left) => {
    const list = [1, 2, 3]
    removeFrom(list, item)
    expect(list).toEqual(left)
  })
})
