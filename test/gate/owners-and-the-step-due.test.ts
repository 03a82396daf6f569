import { describe, expect, it } from 'vitest'
import { admit, enforce, make, refusal, statuses, step } from './enforce.ts'

describe('the owner of a call', () => {
  it('G2: a call of a step that lingers, or is reached by passing over, is no extra', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b', { required: false }), step('c')], {
      allowExtraTools: true,
      maxExtraCalls: 1,
    })
    make(enforcer, ['a', 'a', 'c', 'z'])
    expect(enforcer.snapshot().state.tickets.map(({ tool, extra }) => [tool, extra])).toEqual([
      ['a', false],
      ['a', false],
      ['c', false],
      ['z', true],
    ])
    expect(refusal(enforcer, 'z')).toBe('max_extra_calls')
  })

  it('G4: a tool of a step that gave up is step_closed, though its cap is used up', () => {
    const enforcer = enforce([step('a', { required: false, maxToolCalls: 1 }), step('b')])
    make(enforcer, 'a', { outcome: 'failed' })
    expect(statuses(enforcer)).toBe('a failed, b pending')
    expect(refusal(enforcer, 'a')).toBe('step_closed')
  })

  it('G4: a tool of several closed steps is max_tool_calls if one of them spent its cap', () => {
    const x = { expectedTools: ['x'] }
    const enforcer = enforce([
      step('a', { ...x, maxToolCalls: 1 }),
      step('b', { ...x, required: false }),
      step('c'),
    ])
    make(enforcer, 'x')
    enforcer.skipCurrentStep()
    expect(refusal(enforcer, 'x')).toBe('max_tool_calls')
  })
})

describe('the owner of an observed call', () => {
  const observe = { blockViolations: false } as const
  const x = { expectedTools: ['x'] }

  it('G13: a call belongs to no step that failed while another that names it is not done', () => {
    const enforcer = enforce([step('a', x), step('b', x)], {}, observe)
    enforcer.failCurrentStep('no')
    make(enforcer, 'x')
    expect(statuses(enforcer)).toBe('a failed, b completed')
  })

  it('G13: a call of steps that are all done belongs to the last, and is no extra', () => {
    const enforcer = enforce([step('a', x), step('b', x), step('c', x)], {}, observe)
    make(enforcer, ['x', 'x', 'x', 'x'])
    expect(enforcer.snapshot().state.tickets.map(({ step: id, extra }) => [id, extra])).toEqual([
      ['a', false],
      ['b', false],
      ['c', false],
      ['c', false],
    ])
  })

  it('G3: a step that was called before its turn can still be reached by passing over', () => {
    const enforcer = enforce([step('a'), step('b', { required: false }), step('c')], {}, observe)
    make(enforcer, 'c', { outcome: 'failed' })
    expect(enforcer.violations).toHaveLength(1)
    make(enforcer, 'a')
    make(enforcer, 'c')
    expect(enforcer.violations).toHaveLength(1)
    expect(statuses(enforcer)).toBe('a completed, b skipped, c completed')
  })
})

describe('the step that is due', () => {
  it('G8: is the required one that failed where nothing is open, and never an optional one', () => {
    const enforcer = enforce([step('a'), step('b'), step('c', { required: false })], {
      strictSequence: false,
    })
    make(enforcer, 'a')
    enforcer.failCurrentStep('no')
    enforcer.skipCurrentStep()
    expect(enforcer.currentStep?.id).toBe('b')
    const graph = enforce([step('a', { after: 'b' }), step('b')])
    graph.failCurrentStep('no')
    expect(graph.currentStep?.id).toBe('b')
    const optional = enforce([step('a', { required: false })])
    admit(optional, 'a')
    optional.failCurrentStep('no')
    expect(optional.currentStep).toBeNull()
  })
})
