import { describe, expect, it } from 'vitest'
import { tool } from '../../src/tool/tool.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { decide } from '../../src/run/decide.ts'
import { startRun } from '../../src/run/perform.ts'
import { admit, enforce, forecast, make, playbookOf, refusal, statuses, step } from './enforce.ts'

const registered = (name: string) =>
  tool({
    name,
    description: name,
    risk: 'read',
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    execute: () => name,
  })

describe('what a call must pass, in this order', () => {
  it('G1: the name comes first', () => {
    const enforcer = enforce([step('a')])
    expect(enforcer.validateToolCall('a!', { callId: 'c', arguments: 5 }).code).toBe('invalid_tool_name')
  })

  it.each(['.a', '/a', '-a', 'a b', 'a\u0000', 'ａ', 'a'.repeat(129), 'a,b', '*'])(
    'G1: %j is no name of a tool',
    (name) => {
      const enforcer = enforce([step('a')], { allowExtraTools: true })
      expect(refusal(enforcer, name)).toBe('invalid_tool_name')
    },
  )

  it.each(['a', 'A9', '_a', '9', 'ns.tool/sub-tool_1', 'a'.repeat(128)])('G1: %j is a name', (name) => {
    expect(refusal(enforce([step('s')], { allowExtraTools: true }), name)).toBeNull()
  })

  it.each<[string, unknown]>([
    ['a list', [1]],
    ['a text', 'x'],
    ['null', null],
    ['a function', () => 1],
    ['not a number', { a: Number.NaN }],
    ['a date', { at: new Date(0) }],
    ['half a character', { a: '\ud800' }],
  ])('G1: arguments that are %s are refused', (_, args) => {
    expect(refusal(enforce([step('a')]), 'a', args)).toBe('invalid_arguments')
  })

  it('G1: arguments that contain themselves are refused', () => {
    const args: Record<string, unknown> = {}
    args['self'] = args
    expect(refusal(enforce([step('a')]), 'a', args)).toBe('invalid_arguments')
  })

  it("G1: arguments that do not fit the registered tool's input are refused, and the message says why", () => {
    const enforcer = enforce([step('a')], {}, { tools: [registered('a')] })
    const result = enforcer.validateToolCall('a', { arguments: { id: 5 } })
    expect(result.code).toBe('invalid_arguments')
    expect(result.violation?.message).toContain('id')
    expect(refusal(enforcer, 'a', { id: 'x' })).toBeNull()
  })

  it('G1: bad arguments come before a call id that was used', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 5 })])
    enforcer.validateToolCall('a', { callId: 'c' })
    expect(enforcer.validateToolCall('a', { callId: 'c', arguments: 5 }).code).toBe('invalid_arguments')
  })

  it('G1: a call id is used once in a run, whatever became of its call', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 5 }), step('b')])
    enforcer.validateToolCall('a', { callId: 'c' })
    expect(enforcer.validateToolCall('a', { callId: 'c' }).code).toBe('duplicate_call')
    enforcer.recordToolCall('a', { callId: 'c', outcome: 'not_executed' })
    expect(enforcer.validateToolCall('a', { callId: 'c' }).code).toBe('duplicate_call')
    expect(enforcer.validateToolCall('a', { callId: 'd' }).allowed).toBe(true)
  })

  it('G1: a call id made up by the gate never collides with one that a caller used', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 5 })])
    const first = enforcer.validateToolCall('a', { callId: 'call-2' })
    const second = enforcer.validateToolCall('a')
    expect(second.allowed).toBe(true)
    expect(second.callId).not.toBe(first.callId)
  })

  it('G1: a refused call does not use up its id', () => {
    const enforcer = enforce([step('a'), step('b')])
    expect(enforcer.validateToolCall('b', { callId: 'c' }).code).toBe('out_of_sequence')
    expect(enforcer.validateToolCall('a', { callId: 'c' }).allowed).toBe(true)
  })

  it('G1: a used call id comes before an unknown tool', () => {
    const enforcer = enforce([step('a')], {}, { tools: [registered('a')] })
    enforcer.validateToolCall('a', { callId: 'c', arguments: { id: 'x' } })
    expect(enforcer.validateToolCall('b', { callId: 'c' }).code).toBe('duplicate_call')
  })

  it('G1: a tool that is not registered is unknown, even where extra tools are allowed', () => {
    const enforcer = enforce([step('a')], { allowExtraTools: true }, { tools: [registered('a')] })
    expect(refusal(enforcer, 'b')).toBe('unknown_tool')
  })

  it('G1: an unknown tool stays unknown after the run has ended', () => {
    const enforcer = enforce([], {}, { tools: [] })
    enforcer.finish()
    expect(refusal(enforcer, 'a')).toBe('unknown_tool')
  })

  it('G1: after the end of the run nothing is let through', () => {
    const enforcer = enforce([step('a')], { allowExtraTools: true })
    make(enforcer, 'a')
    enforcer.finish()
    expect(refusal(enforcer, 'a')).toBe('run_ended')
    expect(refusal(enforcer, 'extra')).toBe('run_ended')
  })

  it('G1: after a required step has failed nothing is let through, extra tools included', () => {
    const enforcer = enforce([step('a'), step('b')], { strictSequence: false, allowExtraTools: true })
    enforcer.failCurrentStep('no')
    expect(refusal(enforcer, 'a')).toBe('step_failed')
    expect(refusal(enforcer, 'b')).toBe('step_failed')
    expect(refusal(enforcer, 'extra')).toBe('step_failed')
  })

  it('G1: a call whose step is overdue is refused by the machine itself, before time has been let pass', () => {
    const compiled = compilePlaybook(playbookOf([step('a', { timeoutSeconds: 10 })]))
    const { state } = startRun(
      compiled,
      { run: 'r', inputs: {}, enforced: true, finishAttempts: 2 },
      { now: 0 },
    )
    const call = { type: 'call', callId: null, tool: 'a', args: null } as const
    expect(decide(state, call, { now: 9_999 })[0]?.type).toBe('tool.admitted')
    expect(decide(state, call, { now: 10_000 })).toEqual([expect.objectContaining({ code: 'timeout' })])
  })

  it('G1: the cap comes before the rules on arguments, and those of the step before those of the playbook', () => {
    const enforcer = enforce(
      [
        step('a', {
          maxToolCalls: 1,
          completeWhen: 'declared',
          arguments: { a: { require: 'args.n > 1' } },
        }),
      ],
      { rules: [{ tool: 'a', require: 'args.n > 2' }] },
    )
    expect(refusal(enforcer, 'a', { n: 1 })).toBe('argument_rule')
    expect(refusal(enforcer, 'a', { n: 2 })).toBe('rule')
    expect(refusal(enforcer, 'a', { n: 3 })).toBeNull()
    expect(refusal(enforcer, 'a', { n: 1 })).toBe('max_tool_calls')
  })

  it("G1: a step's JSON Schema is asked before its condition", () => {
    const enforcer = enforce([
      step('a', {
        arguments: {
          a: { schema: { type: 'object', properties: { n: { type: 'integer' } } }, require: 'args.n > 1' },
        },
      }),
    ])
    const result = enforcer.validateToolCall('a', { arguments: { n: 0.5 } })
    expect(result.code).toBe('argument_rule')
    expect(result.violation?.message).not.toContain('args.n > 1')
  })
})

describe('rules on arguments', () => {
  const bound = [step('a', { arguments: { a: { require: 'args.n > 1' } } })]

  it('G1: a tool with a rule on its arguments refuses a call without arguments', () => {
    expect(refusal(enforce(bound), 'a')).toBe('arguments_required')
    const schema = [step('a', { arguments: { a: { schema: { type: 'object' } } } })]
    expect(refusal(enforce(schema), 'a')).toBe('arguments_required')
  })

  it('G1: a rule of the playbook that reads the arguments refuses a call without them; one that does not, not', () => {
    const reads = enforce([step('a')], { rules: [{ tool: '*', require: 'args.n > 1' }] })
    expect(refusal(reads, 'a')).toBe('arguments_required')
    const other = enforce([step('a')], { rules: [{ tool: '*', require: 'tool != "b"' }] })
    expect(refusal(other, 'a')).toBeNull()
  })

  it('G1: a condition that cannot be evaluated is not met', () => {
    expect(refusal(enforce(bound), 'a', { m: 5 })).toBe('argument_rule')
    expect(refusal(enforce(bound), 'a', { n: 'many' })).toBe('argument_rule')
  })

  it('G1: a rule binds extra tools too', () => {
    const enforcer = enforce([step('a')], {
      allowExtraTools: true,
      rules: [{ tool: 'delete_*', require: 'args.dry_run == true', message: 'only dry runs' }],
    })
    const result = enforcer.validateToolCall('delete_user', { arguments: { dry_run: false } })
    expect(result.code).toBe('rule')
    expect(result.violation?.message).toContain('only dry runs')
    expect(refusal(enforcer, 'delete_user', { dry_run: true })).toBeNull()
    expect(refusal(enforcer, 'undelete', {})).toBeNull()
  })

  it('G1: every rule that matches must hold, not one of them', () => {
    const enforcer = enforce([step('pay')], {
      rules: [
        { tool: 'pay', require: 'args.amount < 100' },
        { tool: 'p*', require: 'args.amount > 0' },
      ],
    })
    expect(refusal(enforcer, 'pay', { amount: 100 })).toBe('rule')
    expect(refusal(enforcer, 'pay', { amount: 0 })).toBe('rule')
    expect(refusal(enforcer, 'pay', { amount: 50 })).toBeNull()
  })

  it('G1: a rule can bind a call to what earlier calls with the same arguments said', () => {
    const enforcer = enforce(
      [step('lookup', { maxToolCalls: 5 }), step('refund')],
      {
        inputs: { customer: 'string' },
        rules: [
          { tool: 'refund', require: 'result("lookup", order=args.order).customer == inputs.customer' },
          { tool: 'refund', require: 'count("refund", order=args.order) == 0' },
        ],
      },
      { inputs: { customer: 'C-1' } },
    )
    make(enforcer, 'lookup', { result: { customer: 'C-1' } }, { order: 'O-1' })
    make(enforcer, 'lookup', { result: { customer: 'C-2' } }, { order: 'O-2' })
    expect(forecast(enforcer, 'refund', { order: 'O-3' })).toBe('rule')
    expect(forecast(enforcer, 'refund', { order: 'O-2' })).toBe('rule')
    expect(forecast(enforcer, 'refund', { order: 'O-1' })).toBeNull()
  })

  it('G1: a call that is open or of unknown outcome counts, so that it cannot be paid twice', () => {
    const enforcer = enforce([step('pay', { maxToolCalls: 5, completeWhen: 'declared' })], {
      rules: [{ tool: 'pay', require: 'count("pay") == 0' }],
    })
    admit(enforcer, 'pay')
    expect(refusal(enforcer, 'pay')).toBe('rule')
    enforcer.recordToolCall('pay', { outcome: 'unknown' })
    expect(refusal(enforcer, 'pay')).toBe('outcome_unknown')
    enforcer.recordToolCall('pay', { outcome: 'failed' })
    expect(refusal(enforcer, 'pay')).toBeNull()
  })
})

describe('a refused call', () => {
  it('G1: takes no slot, moves no step and changes nothing but the list of violations', () => {
    const enforcer = enforce(
      [
        step('a', { required: false, maxToolCalls: 1 }),
        step('b', { arguments: { b: { require: 'args.ok == true' } } }),
        step('c'),
      ],
      {},
      { clock: () => 0 },
    )
    const { violations: _, ...before } = enforcer.snapshot().state
    expect(refusal(enforcer, 'c')).toBe('out_of_sequence')
    expect(refusal(enforcer, 'b', { ok: false })).toBe('argument_rule')
    expect(refusal(enforcer, 'x')).toBe('unexpected_tool')
    expect(refusal(enforcer, '!')).toBe('invalid_tool_name')
    const { violations, ...after } = enforcer.snapshot().state
    expect(after).toEqual(before)
    expect(violations).toHaveLength(4)
    expect(statuses(enforcer)).toBe('a pending, b pending, c pending')
  })

  it('G1: is kept with its code, its tool, its step and its time, up to a number that is kept, and counted beyond', () => {
    const enforcer = enforce([step('a')], {}, { clock: () => 77 })
    for (let n = 0; n < 10_001; n++) refusal(enforcer, 'x')
    expect(enforcer.violations).toHaveLength(10_000)
    expect(enforcer.snapshot().state.violationsDropped).toBe(1)
    expect(enforcer.violations[0]).toMatchObject({
      violationType: 'unexpected_tool',
      toolName: 'x',
      stepId: 'a',
      timestamp: new Date(77),
      blocked: true,
    })
  })
})

describe('a throw on the way', () => {
  it('G1: is a denial', () => {
    const compiled = compilePlaybook(
      playbookOf([step('a')], { rules: [{ tool: 'a', require: 'count("a") == 0' }] }),
    )
    const { state } = startRun(
      compiled,
      { run: 'r', inputs: {}, enforced: true, finishAttempts: 2 },
      { now: 0 },
    )
    const broken = {
      ...state,
      get past(): never {
        throw new Error('the index is gone')
      },
    }
    const call = { type: 'call', callId: null, tool: 'a', args: null } as const
    const events = decide(broken, call, { now: 0 })
    expect(events).toEqual([
      expect.objectContaining({ type: 'tool.denied', code: 'gate_error', blocked: true }),
    ])
  })

  it('G1: is a denial even where the playbook only observes', () => {
    const compiled = compilePlaybook(
      playbookOf([step('a')], { rules: [{ tool: 'a', require: 'count("a") == 0' }] }),
    )
    const { state } = startRun(
      compiled,
      { run: 'r', inputs: {}, enforced: false, finishAttempts: 2 },
      { now: 0 },
    )
    const broken = {
      ...state,
      get past(): never {
        throw new Error('the index is gone')
      },
    }
    const call = { type: 'call', callId: null, tool: 'a', args: null } as const
    expect(decide(broken, call, { now: 0 }).map((event) => event.type)).toEqual(['tool.denied'])
  })
})

describe('a record that cannot be written', () => {
  const failing = (from: number) => {
    const written: RunEvent[] = []
    let batches = 0
    const onEvents = (events: readonly RunEvent[]) => {
      if (++batches >= from) throw new Error('disk full')
      written.push(...events)
    }
    return { written, onEvents }
  }

  it('G1: the call whose admission could not be written is refused, and so is everything after', () => {
    const { onEvents, written } = failing(2)
    const enforcer = enforce([step('a')], {}, { onEvents })
    expect(enforcer.validateToolCall('a')).toMatchObject({ allowed: false, code: 'gate_error', callId: null })
    expect(enforcer.validateToolCall('a').code).toBe('gate_error')
    expect(enforcer.validateToolCalls(['a'])[0]!.code).toBe('gate_error')
    expect(written.map((event) => event.type)).toEqual(['run.started'])
  })

  it('G1: a run whose start could not be written lets nothing through', () => {
    const enforcer = enforce([step('a')], {}, { onEvents: failing(1).onEvents })
    expect(enforcer.validateToolCall('a').code).toBe('gate_error')
  })

  it('G1: every other move throws record_failed, and writes nothing more, so that the record has no gap', () => {
    const { onEvents, written } = failing(2)
    const enforcer = enforce([step('a', { required: false, timeoutSeconds: 1 })], {}, { onEvents })
    enforcer.validateToolCall('a')
    const failed = expect.objectContaining({ code: 'record_failed', consequence: 'pause' })
    for (const move of [
      () => enforcer.recordToolCall('a'),
      () => enforcer.completeCurrentStep(),
      () => enforcer.skipCurrentStep(),
      () => enforcer.failCurrentStep('x'),
      () => enforcer.retryStep('a'),
      () => enforcer.beginIteration(),
      () => enforcer.finish(),
      () => enforcer.checkTime(),
      () => enforcer.reset(),
    ]) {
      expect(move).toThrow(failed)
    }
    expect(written).toHaveLength(1)
  })

  it('G1: call() runs nothing when its admission could not be written', async () => {
    let ran = false
    const enforcer = enforce([step('a')], {}, { onEvents: failing(2).onEvents })
    const outcome = await enforcer.call('a', {}, () => {
      ran = true
    })
    expect(outcome).toMatchObject({ status: 'denied', enforcement: { code: 'gate_error' } })
    expect(ran).toBe(false)
  })

  it('G1: call() says that the outcome could not be written, because the work was done', async () => {
    const enforcer = enforce([step('a')], {}, { onEvents: failing(3).onEvents })
    await expect(enforcer.call('a', {}, () => 'done')).rejects.toMatchObject({ code: 'record_failed' })
  })

  it('G1: what was refused is written too', () => {
    const { onEvents, written } = failing(99)
    const enforcer = enforce([step('a'), step('b')], {}, { onEvents, recordViolations: false })
    refusal(enforcer, 'b')
    expect(written.at(-1)).toMatchObject({ type: 'tool.denied', tool: 'b', code: 'out_of_sequence' })
  })
})
