import { describe, expect, it } from 'vitest'
import { admit, enforce, forecast, make, phase, refusal, statuses, step } from './enforce.ts'

const optional = { required: false }

describe('the order of steps', () => {
  it('G3: is a chain by default', () => {
    const enforcer = enforce([step('a'), step('b'), step('c')])
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    make(enforcer, 'a')
    expect(refusal(enforcer, 'c')).toBe('out_of_sequence')
    make(enforcer, ['b', 'c'])
    expect(enforcer.isComplete).toBe(true)
  })

  it('G3: strict_sequence: false has no edges: every step is open from the start, in any order', () => {
    const enforcer = enforce([step('a'), step('b'), step('c')], { strictSequence: false })
    expect(['a', 'b', 'c'].map((id) => phase(enforcer, id))).toEqual(['open', 'open', 'open'])
    make(enforcer, ['c', 'a', 'b'])
    expect(enforcer.isComplete).toBe(true)
  })

  it('G3: after gives edges, and a step without it opens at the start', () => {
    const enforcer = enforce([step('a'), step('b'), step('c', { after: ['a', 'b'] })])
    expect(phase(enforcer, 'c')).toBe('waiting')
    make(enforcer, 'b')
    expect(refusal(enforcer, 'c')).toBe('out_of_sequence')
    make(enforcer, ['a', 'c'])
    expect(enforcer.isComplete).toBe(true)
  })

  it('G3: after excludes an explicit strict_sequence: true', () => {
    expect(() => enforce([step('a'), step('b', { after: 'a' })], { strictSequence: true })).toThrow(/after/)
  })

  it('G3: after any is met by one member', () => {
    const enforcer = enforce([step('a'), step('b'), step('c', { after: { any: ['a', 'b'] } })])
    expect(refusal(enforcer, 'c')).toBe('out_of_sequence')
    make(enforcer, ['b', 'c'])
    expect(statuses(enforcer)).toBe('a pending, b completed, c completed')
  })

  it('G3: groups nest', () => {
    const enforcer = enforce([
      step('a'),
      step('b'),
      step('c'),
      step('d', { after: { any: [{ all: ['a', 'b'] }, 'c'] } }),
    ])
    make(enforcer, 'a')
    expect(refusal(enforcer, 'd')).toBe('out_of_sequence')
    make(enforcer, ['b', 'd'])
    expect(statuses(enforcer)).toContain('c pending, d completed')
  })

  it('G3: the order is that of the edges, not of the list', () => {
    const enforcer = enforce([step('last', { after: 'first' }), step('first')])
    expect(enforcer.currentStep?.id).toBe('first')
    expect(refusal(enforcer, 'last')).toBe('out_of_sequence')
    make(enforcer, ['first', 'last'])
    expect(enforcer.isComplete).toBe(true)
  })
})

describe('an edge', () => {
  it('G3: is met by a completed step', () => {
    const enforcer = enforce([step('a'), step('b')])
    make(enforcer, 'a')
    expect(refusal(enforcer, 'b')).toBeNull()
  })

  it('G3: is met by a skipped step', () => {
    const enforcer = enforce([step('a', optional), step('b')])
    enforcer.skipCurrentStep()
    expect(phase(enforcer, 'b')).toBe('open')
    expect(refusal(enforcer, 'b')).toBeNull()
  })

  it('G3: is met by an optional step that failed, and not by a required one', () => {
    const enforcer = enforce([step('a', optional), step('b')])
    enforcer.failCurrentStep('no')
    expect(refusal(enforcer, 'b')).toBeNull()
    const strict = enforce([step('a'), step('b')])
    strict.failCurrentStep('no')
    expect(phase(strict, 'b')).toBe('waiting')
  })

  it('G3: is not met by a step in progress', () => {
    const enforcer = enforce([step('a', { expectedTools: ['a1', 'a2'] }), step('b')])
    make(enforcer, 'a1')
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
  })
})

describe('passing over', () => {
  it('G3: a call of a later step passes over the optional steps before it, and they are skipped', () => {
    const enforcer = enforce([step('a', optional), step('b', optional), step('c'), step('d')])
    make(enforcer, 'c')
    expect(statuses(enforcer)).toBe('a skipped, b skipped, c completed, d pending')
    expect(enforcer.plan.getStepExecution('a')).toMatchObject({ status: 'skipped', by: 'passed_over' })
    expect(enforcer.currentStep?.id).toBe('d')
  })

  it('G3: it reaches up to and including the next required step, and no further', () => {
    const enforcer = enforce([step('a', optional), step('b'), step('c')])
    expect(refusal(enforcer, 'c')).toBe('out_of_sequence')
    expect(statuses(enforcer)).toBe('a pending, b pending, c pending')
  })

  it('G3: it reaches an optional step among others, and passes only what stands before that', () => {
    const enforcer = enforce([step('a', optional), step('b', optional), step('c', optional)])
    make(enforcer, 'b')
    expect(statuses(enforcer)).toBe('a skipped, b completed, c pending')
  })

  it('G3: what was passed over is skipped for good', () => {
    const enforcer = enforce([step('a', optional), step('b'), step('c')])
    make(enforcer, 'b')
    expect(refusal(enforcer, 'a')).toBe('step_closed')
    expect(() => enforcer.retryStep('a')).toThrow(/retried/)
  })

  it('G3: it is final although the call that passed over was not executed', () => {
    const enforcer = enforce([step('a', optional), step('b')])
    admit(enforcer, 'b')
    enforcer.recordToolCall('b', { outcome: 'not_executed' })
    expect(statuses(enforcer)).toBe('a skipped, b in_progress')
  })

  it('G3: a step with an open ticket is not passed, be the call in flight or of unknown outcome', () => {
    const enforcer = enforce([step('a', { ...optional, maxToolCalls: 3 }), step('b')])
    admit(enforcer, 'a')
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    enforcer.recordToolCall('a', { outcome: 'unknown' })
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    enforcer.recordToolCall('a', { outcome: 'failed' })
    expect(refusal(enforcer, 'b')).toBeNull()
    expect(statuses(enforcer)).toBe('a skipped, b in_progress')
  })

  it('G3: a step that has begun is passed once its calls are settled', () => {
    const enforcer = enforce([step('a', { ...optional, expectedTools: ['a1', 'a2'] }), step('b')])
    make(enforcer, ['a1', 'b'])
    expect(statuses(enforcer)).toBe('a skipped, b completed')
    expect(enforcer.plan.getStepExecution('a')?.toolCalls).toEqual(['a1'])
  })

  it('G3: a refused call passes over nothing', () => {
    const enforcer = enforce([
      step('a', optional),
      step('b', { arguments: { b: { require: 'args.ok == true' } } }),
    ])
    expect(refusal(enforcer, 'b', { ok: false })).toBe('argument_rule')
    expect(statuses(enforcer)).toBe('a pending, b pending')
  })

  it('G3: rules see the passed steps as skipped already', () => {
    const enforcer = enforce([step('a', optional), step('b')], {
      rules: [{ tool: 'b', require: 'steps.a.status == "skipped"' }],
    })
    expect(refusal(enforcer, 'b')).toBeNull()
  })

  it('G3: in a graph it passes what the edges demand, and leaves other branches alone', () => {
    const enforcer = enforce([
      step('a', optional),
      step('b', optional),
      step('c', { after: 'a' }),
      step('d', { after: 'b' }),
    ])
    make(enforcer, 'c')
    expect(statuses(enforcer)).toBe('a skipped, b pending, c completed, d pending')
  })

  it('G3: in an any group where nothing is met, the first member that can be cleared is passed', () => {
    const enforcer = enforce([
      step('a'),
      step('b', optional),
      step('c', optional),
      step('d', { after: { any: ['a', 'b', 'c'] } }),
    ])
    make(enforcer, 'd')
    expect(statuses(enforcer)).toBe('a pending, b skipped, c pending, d completed')
  })

  it('G3: an any group that is met already passes nothing', () => {
    const enforcer = enforce([
      step('a', optional),
      step('b', optional),
      step('c', { after: { any: ['a', 'b'] } }),
    ])
    make(enforcer, ['b', 'c'])
    expect(statuses(enforcer)).toBe('a pending, b completed, c completed')
  })

  it('G3: a later step whose when does not hold, with the others skipped, does not take the call', () => {
    const enforcer = enforce([
      step('a', optional),
      step('b', { when: 'steps.a.status == "completed"' }),
      step('c', { required: false }),
    ])
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    make(enforcer, ['a', 'b'])
    expect(statuses(enforcer)).toBe('a completed, b completed, c pending')
  })

  it('G3: a later step whose when holds once the others are skipped takes the call', () => {
    const enforcer = enforce([step('a', optional), step('b', { when: 'steps.a.status == "skipped"' })])
    expect(admit(enforcer, 'b').currentStep?.id).toBe('b')
    expect(statuses(enforcer)).toBe('a skipped, b in_progress')
  })

  it('G3: the when of a step reached so is judged once, before its own call counts', () => {
    const enforcer = enforce([step('a', optional), step('b', { when: 'count("b") == 0' })])
    make(enforcer, 'b')
    expect(statuses(enforcer)).toBe('a skipped, b completed')
  })

  it('G3: a later step whose when cannot be judged does not take the call', () => {
    const enforcer = enforce([step('a', optional), step('b', { when: 'result("a").n > 1' })])
    expect(refusal(enforcer, 'b')).toBe('out_of_sequence')
    expect(statuses(enforcer)).toBe('a pending, b pending')
  })

  it('G3: where two steps name the tool, the earliest that can be reached takes it', () => {
    const enforcer = enforce([
      step('a', optional),
      step('b', { expectedTools: ['t', 'u'] }),
      step('c', { expectedTools: ['t'] }),
    ])
    expect(admit(enforcer, 't').currentStep?.id).toBe('b')
  })
})

describe('when', () => {
  it('G3: opens the step when it holds, and skips it when it does not', () => {
    const steps = [step('a'), step('b', { when: 'inputs.big' }), step('c')]
    const fields = { inputs: { big: 'boolean' } } as const
    const big = enforce(steps, fields, { inputs: { big: true } })
    make(big, 'a')
    expect(big.currentStep?.id).toBe('b')
    const small = enforce(steps, fields, { inputs: { big: false } })
    make(small, 'a')
    expect(small.currentStep?.id).toBe('c')
    expect(small.plan.getStepExecution('b')).toMatchObject({ status: 'skipped', by: 'condition' })
  })

  it('G3: is judged when the predecessors are met, and not before', () => {
    const enforcer = enforce([step('a'), step('b', { when: 'result("a").go' })])
    expect(enforcer.currentStep?.id).toBe('a')
    expect(phase(enforcer, 'b')).toBe('waiting')
    make(enforcer, 'a', { result: { go: true } })
    expect(phase(enforcer, 'b')).toBe('open')
  })

  it('G3: is judged once: what happens later changes nothing', () => {
    const enforcer = enforce(
      [
        step('a', { when: 'count("x") == 0' }),
        step('b', { when: 'count("x") > 0', required: false }),
        step('c'),
      ],
      { strictSequence: false, allowExtraTools: true },
    )
    expect(statuses(enforcer)).toBe('a pending, b skipped, c pending')
    make(enforcer, 'x')
    expect(statuses(enforcer)).toBe('a pending, b skipped, c pending')
    expect(refusal(enforcer, 'a')).toBeNull()
    expect(refusal(enforcer, 'b')).toBe('step_closed')
  })

  it('G3: skips a required step too: required speaks of steps whose turn comes', () => {
    const enforcer = enforce([step('a', { when: 'false' }), step('b', { when: 'false' })])
    expect(enforcer.isComplete).toBe(true)
    expect(enforcer.progress).toBe(1)
  })

  it('G3: that cannot be judged makes the step undecided and pauses the run', () => {
    const enforcer = enforce([step('a'), step('b', { when: 'result("a").go' }), step('c', optional)], {
      allowExtraTools: true,
    })
    make(enforcer, 'a', { result: 'no object' })
    expect(phase(enforcer, 'b')).toBe('undecided')
    expect(enforcer.currentStep?.id).toBe('b')
    expect(enforcer.plan.getStepExecution('b')).toMatchObject({ status: 'pending', phase: 'undecided' })
    expect(enforcer.plan.getStepExecution('b')?.error).toContain('when')
    for (const tool of ['b', 'c', 'x']) expect(refusal(enforcer, tool)).toBe('run_paused')
  })

  it('G3: that cannot be judged is judged again when a person retries the step', () => {
    const enforcer = enforce([step('a', { when: 'result("x").go' })], { allowExtraTools: true })
    expect(phase(enforcer, 'a')).toBe('undecided')
    enforcer.retryStep('a')
    expect(phase(enforcer, 'a')).toBe('undecided')
    enforcer.failCurrentStep('nobody knows')
    expect(forecast(enforcer, 'a')).toBe('step_failed')
  })

  it('G3: with a graph, is judged as soon as its own predecessors are met', () => {
    const enforcer = enforce([
      step('a'),
      step('b'),
      step('c', { after: 'a', when: 'steps.b.status == "completed"', required: false }),
    ])
    make(enforcer, ['a', 'b'])
    expect(statuses(enforcer)).toBe('a completed, b completed, c skipped')
  })
})

describe('a complete step that took up another call', () => {
  const held = [
    step('freeze', { maxToolCalls: 3 }),
    step('review', { required: false, timeoutSeconds: 60 }),
    step('pay'),
  ]

  it('G3: holds back everything after it, also past an optional step whose time runs out meanwhile', () => {
    let now = 0
    const enforcer = enforce(held, {}, { clock: () => now })
    make(enforcer, 'freeze')
    make(enforcer, 'freeze', { outcome: 'unknown' })
    expect(refusal(enforcer, 'pay')).toBe('out_of_sequence')
    now = 61_000
    expect(refusal(enforcer, 'pay')).toBe('out_of_sequence')
    expect(statuses(enforcer)).toBe('freeze in_progress, review pending, pay pending')
    enforcer.recordToolCall('freeze', { outcome: 'succeeded' })
    expect(refusal(enforcer, 'pay')).toBeNull()
  })

  it('G3: is not overtaken by a step whose condition its own call makes true', () => {
    const enforcer = enforce([
      step('look', { maxToolCalls: 3 }),
      step('wait', { expectedTools: ['other'], completeWhen: 'count("look") >= 2' }),
      step('pay'),
    ])
    make(enforcer, 'look')
    admit(enforcer, 'look')
    expect(statuses(enforcer)).toBe('look in_progress, wait pending, pay pending')
    expect(refusal(enforcer, 'pay')).toBe('out_of_sequence')
    enforcer.recordToolCall('look')
    expect(refusal(enforcer, 'pay')).toBeNull()
  })

  it('G3: holds back a step that stands before it in the list, and its time', () => {
    let now = 0
    const steps = [
      step('pay', { expectedTools: [], timeoutSeconds: 1, after: 'check' }),
      step('check', { maxToolCalls: 3 }),
    ]
    const enforcer = enforce(steps, {}, { clock: () => now })
    make(enforcer, 'check')
    admit(enforcer, 'check')
    now = 5000
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('pay pending, check in_progress')
    enforcer.recordToolCall('check')
    now = 5500
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('pay pending, check completed')
    now = 6000
    enforcer.checkTime()
    expect(statuses(enforcer)).toBe('pay failed, check completed')
  })
})
