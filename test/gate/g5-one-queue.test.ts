import { describe, expect, it } from 'vitest'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import { tool } from '../../src/tool/tool.ts'
import { enforce, make, refusal, statuses, step } from './enforce.ts'

/** Work that ends when it is told to, and says when it began. */
function gate(log: string[], name: string) {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const work = async () => {
    log.push(`${name} begins`)
    await opened
    log.push(`${name} ends`)
    return name
  }
  return { work, open: () => open() }
}

const soon = () => new Promise<void>((resolve) => setImmediate(resolve))
const many = { maxToolCalls: 20, completeWhen: 'declared' } as const

describe('the forecast of a sequence', () => {
  it('G5: judges each call in the state its predecessors would leave', () => {
    const enforcer = enforce([step('a'), step('b'), step('c')])
    const codes = enforcer.validateToolCalls(['a', 'b', 'b', 'c', 'x']).map(({ code }) => code)
    expect(codes).toEqual([null, null, 'step_closed', null, 'playbook_complete'])
  })

  it('G5: reserves nothing and records nothing', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 }), step('b')], {}, { clock: () => 0 })
    const before = enforcer.snapshot()
    enforcer.validateToolCalls(['a', 'a', 'b', 'x'])
    expect(enforcer.snapshot()).toEqual(before)
    expect(enforcer.violations).toEqual([])
  })

  it('G5: takes arguments and call ids', () => {
    const enforcer = enforce([step('a', { ...many, arguments: { a: { require: 'args.n > 0' } } })])
    const codes = enforcer
      .validateToolCalls([
        { tool: 'a', callId: 'c', arguments: { n: 1 } },
        { tool: 'a', callId: 'c', arguments: { n: 1 } },
        { tool: 'a', arguments: { n: 0 } },
        'a',
      ])
      .map(({ code }) => code)
    expect(codes).toEqual([null, 'duplicate_call', 'argument_rule', 'arguments_required'])
  })

  it('G5: assumes no result, so a step that validates results does not move on in it', () => {
    const enforcer = enforce([step('a', { validation: { requiredResultKeywords: ['ok'] } }), step('b')])
    expect(enforcer.validateToolCalls(['a', 'b']).map(({ allowed }) => allowed)).toEqual([true, false])
  })
})

describe('call()', () => {
  it('G5: judges, runs and records; the work gets the arguments, a signal and a key', async () => {
    const enforcer = enforce([step('a'), step('b')])
    const outcome = await enforcer.call('a', { n: 1 }, (args, context) => {
      expect(context.signal).toBeInstanceOf(AbortSignal)
      expect(context.idempotencyKey).toMatch(/^[0-9a-f-]{36}\/call-1$/)
      return { seen: args['n']! }
    })
    expect(outcome).toMatchObject({
      status: 'succeeded',
      result: { seen: 1 },
      enforcement: { allowed: true },
    })
    expect(statuses(enforcer)).toBe('a completed, b pending')
    expect(enforcer.plan.getStepExecution('a')?.calls[0]).toMatchObject({
      arguments: { n: 1 },
      result: { seen: 1 },
    })
  })

  it('G5: does not run what is refused', async () => {
    const enforcer = enforce([step('a'), step('b')])
    const outcome = await enforcer.call('b', {}, () => {
      throw new Error('it ran')
    })
    expect(outcome).toMatchObject({ status: 'denied', enforcement: { code: 'out_of_sequence' } })
    expect(outcome.status === 'denied' && outcome.error).toContain("'b'")
  })

  it('G5: runs the registered tool where no work is given', async () => {
    const a = tool({ name: 'a', description: 'A', execute: (args) => ({ got: args }) })
    const enforcer = enforce([step('a')], {}, { tools: [a] })
    expect(await enforcer.call('a', { n: 1 })).toMatchObject({
      status: 'succeeded',
      result: { got: { n: 1 } },
    })
  })

  it('G5: refuses a tool that nobody registered, instead of throwing', async () => {
    const a = tool({ name: 'a', description: 'A', execute: () => 1 })
    const enforcer = enforce([step('a')], { allowExtraTools: true }, { tools: [a] })
    expect(await enforcer.call('invented', {})).toMatchObject({
      status: 'denied',
      enforcement: { code: 'unknown_tool' },
    })
    expect(enforcer.violations[0]?.violationType).toBe('unknown_tool')
  })

  it('G5: does not execute what has nothing to run, and gives the slot back', async () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 })])
    expect(await enforcer.call('a', {})).toMatchObject({
      status: 'not_executed',
      error: expect.stringContaining('nothing to run') as string,
    })
    expect(refusal(enforcer, 'a')).toBeNull()
  })

  it.each<[string, unknown]>([
    ['a list', [1]],
    ['a text', 'x'],
    ['a function', { f: () => 1 }],
  ])('G5: refuses arguments that are %s', async (_, args) => {
    const enforcer = enforce([step('a')])
    expect(await enforcer.call('a', args, () => 1)).toMatchObject({
      status: 'denied',
      enforcement: { code: 'invalid_arguments' },
    })
  })

  it('G5: calls that write run one after another, in the order in which they were made', async () => {
    const log: string[] = []
    const enforcer = enforce([step('a', many)])
    const [first, second] = [gate(log, 'first'), gate(log, 'second')]
    const both = Promise.all([enforcer.call('a', {}, first.work), enforcer.call('a', {}, second.work)])
    second.open()
    await soon()
    expect(log).toEqual(['first begins'])
    first.open()
    await both
    expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
  })

  it('G5: a call is judged when its turn comes, in the state the ones before it left', async () => {
    const enforcer = enforce([step('a'), step('b'), step('c')])
    const outcomes = await Promise.all(
      ['a', 'b', 'b', 'c'].map((name) => enforcer.call(name, {}, () => name)),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'denied', 'succeeded'])
    expect(enforcer.isComplete).toBe(true)
  })

  it('G5: a cap is never exceeded, however many calls are made at once', async () => {
    let ran = 0
    const enforcer = enforce([step('a', { maxToolCalls: 3, completeWhen: 'declared' })])
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => enforcer.call('a', {}, () => ++ran, { risk: 'read' })),
    )
    expect(ran).toBe(3)
    expect(outcomes.filter(({ status }) => status === 'denied')).toHaveLength(17)
  })

  it('G5: tools that only read run side by side', async () => {
    const log: string[] = []
    const enforcer = enforce([step('a', many)])
    const [first, second] = [gate(log, 'first'), gate(log, 'second')]
    const both = Promise.all([
      enforcer.call('a', {}, first.work, { risk: 'read' }),
      enforcer.call('a', {}, second.work, { risk: 'read' }),
    ])
    await soon()
    expect(log).toEqual(['first begins', 'second begins'])
    second.open()
    first.open()
    expect((await both).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
  })

  it('G5: a write waits for the reads before it, and the reads after it wait for the write', async () => {
    const log: string[] = []
    const enforcer = enforce([step('a', many)])
    const [read, write, later] = [gate(log, 'read'), gate(log, 'write'), gate(log, 'later')]
    const all = Promise.all([
      enforcer.call('a', {}, read.work, { risk: 'read' }),
      enforcer.call('a', {}, write.work),
      enforcer.call('a', {}, later.work, { risk: 'read' }),
    ])
    write.open()
    later.open()
    await soon()
    expect(log).toEqual(['read begins'])
    read.open()
    await all
    expect(log).toEqual([
      'read begins',
      'read ends',
      'write begins',
      'write ends',
      'later begins',
      'later ends',
    ])
  })

  it('G5: a read that is legal only after the reads in flight waits for them', async () => {
    const enforcer = enforce([step('a'), step('b')])
    const outcomes = await Promise.all([
      enforcer.call('a', {}, soon, { risk: 'read' }),
      enforcer.call('b', {}, soon, { risk: 'read' }),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    expect(enforcer.isComplete).toBe(true)
    expect(enforcer.violations).toEqual([])
  })

  it('G5: undeclared work counts as irreversible, a registered tool as what it declares', async () => {
    const log: string[] = []
    const first = gate(log, 'first')
    const second = gate(log, 'second')
    const look = tool({
      name: 'look',
      description: 'Look',
      risk: 'read',
      execute: (args) => (args['n'] === 1 ? first.work() : second.work()),
    })
    const enforcer = enforce([step('look', many)], {}, { tools: [look] })
    const both = Promise.all([enforcer.call('look', { n: 1 }), enforcer.call('look', { n: 2 })])
    await soon()
    expect(log).toEqual(['first begins', 'second begins'])
    first.open()
    second.open()
    await both
  })
})

describe('how a call ends', () => {
  it('G5: an error of work that writes leaves the outcome unknown', async () => {
    const enforcer = enforce([step('a', many)])
    const outcome = await enforcer.call('a', {}, () => {
      throw new Error('connection cut')
    })
    expect(outcome).toMatchObject({ status: 'unknown', error: 'connection cut' })
    expect(enforcer.plan.getStepExecution('a')?.calls[0]).toMatchObject({
      outcome: 'unknown',
      error: 'connection cut',
    })
  })

  it('G5: a ToolFailure states that nothing was applied: the call has failed', async () => {
    const enforcer = enforce([step('a', many)])
    const outcome = await enforcer.call('a', {}, async () => {
      throw new ToolFailure('no such order')
    })
    expect(outcome).toMatchObject({ status: 'failed', error: 'no such order' })
  })

  it('G5: an error of a tool that only reads is a failure', async () => {
    const enforcer = enforce([step('a', many)])
    const outcome = await enforcer.call('a', {}, () => Promise.reject(new Error('offline')), { risk: 'read' })
    expect(outcome.status).toBe('failed')
  })

  it.each([undefined, null, 'a text', 5])('G5: throwing %j is an error like any other', async (thrown) => {
    const enforcer = enforce([step('a', many)])
    const outcome = await enforcer.call('a', {}, () => {
      throw thrown
    })
    expect(outcome).toMatchObject({ status: 'unknown', error: String(thrown) })
  })

  it('G5: the queue goes on after an error', async () => {
    const enforcer = enforce([step('a', many)])
    const outcomes = await Promise.all([
      enforcer.call('a', {}, () => Promise.reject(new ToolFailure('no'))),
      enforcer.call('a', {}, () => 'yes'),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['failed', 'succeeded'])
  })

  it('G5: a result that is not JSON is not kept; that the call succeeded is', async () => {
    const enforcer = enforce([step('a')])
    const outcome = await enforcer.call('a', {}, () => new Map([[1, 2]]))
    expect(outcome).toMatchObject({
      status: 'succeeded',
      result: expect.stringContaining('not kept') as string,
    })
    expect(statuses(enforcer)).toBe('a completed')
  })

  it('G5: no result at all is kept as none', async () => {
    const enforcer = enforce([step('a')])
    const outcome = await enforcer.call('a', {}, () => undefined)
    expect(outcome).toMatchObject({ status: 'succeeded', result: undefined })
  })

  it.each([0.02, 0.0215])(
    'G5: work that takes longer than %d s is given up, and its outcome is unknown',
    async (seconds) => {
      const enforcer = enforce([step('a', many)])
      let told = false
      const outcome = await enforcer.call(
        'a',
        {},
        (_, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => (told = true))
            setTimeout(resolve, 2000).unref()
          }),
        { timeoutSeconds: seconds },
      )
      expect(outcome).toMatchObject({ status: 'unknown', error: `it took longer than ${seconds} s` })
      expect(told).toBe(true)
    },
  )

  it.each([1.1, 1e9])('G5: work that ends within its %d s succeeds', async (seconds) => {
    const enforcer = enforce([step('a', many)])
    const outcome = await enforcer.call('a', {}, () => 'done', { timeoutSeconds: seconds })
    expect(outcome).toMatchObject({ status: 'succeeded', result: 'done' })
  })

  it('G5: a registered tool has its own time', async () => {
    const slow = tool({
      name: 'slow',
      description: 'Slow',
      risk: 'read',
      timeoutSeconds: 0.01,
      execute: () => new Promise((resolve) => setTimeout(resolve, 2000).unref()),
    })
    const enforcer = enforce([step('slow', many)], {}, { tools: [slow] })
    expect((await enforcer.call('slow', {})).status).toBe('failed')
  })

  it('G5: aborting while the work runs leaves the outcome unknown', async () => {
    const enforcer = enforce([step('a', many)])
    const controller = new AbortController()
    const call = enforcer.call('a', {}, () => new Promise(() => {}), { signal: controller.signal })
    await soon()
    controller.abort()
    expect(await call).toMatchObject({ status: 'unknown', error: 'it was cancelled' })
  })

  it('G5: aborting before the work begins means that it is not executed, and frees the slot', async () => {
    const log: string[] = []
    const enforcer = enforce([step('a', { maxToolCalls: 2, completeWhen: 'declared' })])
    const first = gate(log, 'first')
    const controller = new AbortController()
    const one = enforcer.call('a', {}, first.work)
    const two = enforcer.call('a', {}, () => log.push('second ran'), { signal: controller.signal })
    controller.abort()
    first.open()
    await one
    expect(await two).toMatchObject({ status: 'not_executed' })
    expect(log).not.toContain('second ran')
    expect(refusal(enforcer, 'a')).toBeNull()
  })

  it('G5: work that ends after it was given up changes nothing', async () => {
    const log: string[] = []
    const late = gate(log, 'late')
    const enforcer = enforce([step('a', many)])
    expect((await enforcer.call('a', {}, late.work, { timeoutSeconds: 0.01 })).status).toBe('unknown')
    late.open()
    await soon()
    expect(log).toContain('late ends')
    expect(enforcer.plan.getStepExecution('a')?.calls[0]?.outcome).toBe('unknown')
  })
})

describe('exactly what was judged is sent', () => {
  it('G5: changing the arguments after the call was made matters neither to the work nor to the record', async () => {
    const enforcer = enforce([step('pay', { ...many, arguments: { pay: { require: 'args.amount < 100' } } })])
    const args = { amount: 5 }
    const outcome = enforcer.call('pay', args, async (given) => {
      args.amount = 1_000_000
      await soon()
      return given['amount']
    })
    args.amount = 7
    expect(await outcome).toMatchObject({ status: 'succeeded', result: 5 })
    expect(enforcer.plan.getStepExecution('pay')?.calls[0]?.arguments).toEqual({ amount: 5 })
  })

  it('G5: the work cannot change what is recorded', async () => {
    const enforcer = enforce([step('pay', many)])
    const outcome = await enforcer.call('pay', { amount: 5 }, (given) => {
      ;(given as { amount: number }).amount = 6
    })
    expect(outcome.status).toBe('succeeded')
    expect(enforcer.plan.getStepExecution('pay')?.calls[0]?.arguments).toEqual({ amount: 5 })
  })

  it('G5: arguments that answer differently each time are read once', async () => {
    let reads = 0
    const args = {
      get amount() {
        return ++reads === 1 ? 5 : 1_000_000
      },
    }
    const enforcer = enforce([step('pay', { arguments: { pay: { require: 'args.amount < 100' } } })])
    expect(await enforcer.call('pay', args, (given) => given['amount'])).toMatchObject({ result: 5 })
  })
})

describe('a call inside a call', () => {
  it('G5: of the same run is refused, because it would wait for itself for ever', async () => {
    const enforcer = enforce([step('a', many), step('b')])
    let inner: unknown = null
    const outcome = await enforcer.call('a', {}, async () => {
      inner = await enforcer.call('a', {}, () => 1).catch((error: unknown) => error)
      return 'outer'
    })
    expect(inner).toMatchObject({ code: 'call_inside_call' })
    expect(outcome).toMatchObject({ status: 'succeeded', result: 'outer' })
  })

  it('G5: of another run is fine', async () => {
    const outer = enforce([step('a')])
    const inner = enforce([step('b')])
    const outcome = await outer.call('a', {}, async () => (await inner.call('b', {}, () => 1)).status)
    expect(outcome).toMatchObject({ status: 'succeeded', result: 'succeeded' })
  })
})

describe('the calls of one turn', () => {
  const done = (name: string) => ({ tool: name, execute: () => name })

  it('G5: run in order, each in the state the ones before it left', async () => {
    const enforcer = enforce([step('a'), step('b')])
    const outcomes = await enforcer.callAll([done('a'), done('b')])
    expect(outcomes.map(({ tool: name, status }) => [name, status])).toEqual([
      ['a', 'succeeded'],
      ['b', 'succeeded'],
    ])
    expect(enforcer.isComplete).toBe(true)
  })

  it.each([
    ['refused', { tool: 'nothing', execute: () => 1 }],
    ['failed', { tool: 'a', execute: () => Promise.reject(new ToolFailure('no')) }],
    ['unknown', { tool: 'a', execute: () => Promise.reject(new Error('cut')) }],
  ])(
    'G5: after a call that was %s, later ones that write are not executed, and those that read are',
    async (_, bad) => {
      const enforcer = enforce([step('a', { ...many, expectedTools: ['a', 'look', 'b'] })])
      const ran: string[] = []
      const outcomes = await enforcer.callAll([
        bad,
        { tool: 'b', execute: () => ran.push('write') },
        { tool: 'look', risk: 'read', execute: () => ran.push('read') },
        { tool: 'b', risk: 'write', execute: () => ran.push('write') },
      ])
      expect(ran).toEqual(['read'])
      expect(outcomes.slice(1).map(({ status }) => status)).toEqual([
        'not_executed',
        'succeeded',
        'not_executed',
      ])
      expect(outcomes[1]).toMatchObject({
        enforcement: null,
        error: expect.stringContaining(bad.tool) as string,
      })
    },
  )

  it('G5: what is not executed takes no slot and leaves no trace', async () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 })])
    await enforcer.callAll([{ tool: 'x', execute: () => 1 }, done('a')])
    expect(enforcer.plan.getStepExecution('a')).toBeNull()
    make(enforcer, 'a')
    expect(enforcer.isComplete).toBe(true)
  })

  it('G5: reads next to each other run together; a write between them waits and is waited for', async () => {
    const log: string[] = []
    const enforcer = enforce([step('a', many)])
    const read = (name: string) => ({
      tool: 'a',
      risk: 'read' as const,
      execute: async () => {
        log.push(`${name} begins`)
        await soon()
        log.push(`${name} ends`)
      },
    })
    await enforcer.callAll([
      read('r1'),
      read('r2'),
      { tool: 'a', execute: () => void log.push('write') },
      read('r3'),
    ])
    expect(log.slice(0, 2)).toEqual(['r1 begins', 'r2 begins'])
    expect(log.slice(2, 4).toSorted()).toEqual(['r1 ends', 'r2 ends'])
    expect(log.slice(4)).toEqual(['write', 'r3 begins', 'r3 ends'])
  })

  it('G5: a turn without calls is nothing', async () => {
    expect(await enforce([step('a')]).callAll([])).toEqual([])
  })

  it('G5: two turns at once never run two writes at the same time', async () => {
    let inside = 0
    let most = 0
    const write = {
      tool: 'a',
      execute: async () => {
        most = Math.max(most, ++inside)
        await soon()
        inside--
      },
    }
    const enforcer = enforce([step('a', many)])
    await Promise.all([enforcer.callAll([write, write]), enforcer.callAll([write, write])])
    expect(most).toBe(1)
    expect(enforcer.plan.totalToolCalls).toBe(4)
  })
})

describe('what was found open by somebody who tried to break it', () => {
  it('G5: an unknown outcome blocks the same tool, whatever its arguments, until it is settled', async () => {
    const enforcer = enforce([step('pay', many)])
    let paid = 0
    const cut = () => {
      paid++
      throw new Error('socket hang up')
    }
    const outcomes = [
      await enforcer.call('pay', { amount: 30 }, cut),
      await enforcer.call('pay', { amount: 30 }, cut),
      await enforcer.call('pay', { amount: 30.01 }, cut),
    ]
    expect(outcomes.map(({ status }) => status)).toEqual(['unknown', 'denied', 'denied'])
    expect(outcomes[1]!.enforcement?.code).toBe('outcome_unknown')
    expect(paid).toBe(1)
    enforcer.recordToolCall('pay', { outcome: 'failed' })
    expect((await enforcer.call('pay', { amount: 30 }, () => 'ok')).status).toBe('succeeded')
  })

  it('G5: a tool that can find out what became of its call is asked, and its word counts', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      execute: () => Promise.reject(new Error('cut')),
      reconcile: (key) => ({ outcome: 'succeeded', result: key.split('/')[1] }),
    })
    const enforcer = enforce([step('pay')], {}, { tools: [pay] })
    expect(await enforcer.call('pay', {})).toMatchObject({ status: 'succeeded', result: 'call-1' })
    expect(enforcer.isComplete).toBe(true)
  })

  it('G5: two runs never share an idempotency key', async () => {
    const keys: string[] = []
    for (const enforcer of [enforce([step('a')]), enforce([step('a')])]) {
      await enforcer.call('a', {}, (_, { idempotencyKey }) => keys.push(idempotencyKey))
    }
    expect(new Set(keys).size).toBe(2)
  })

  it('G11: a run does not begin anew while a call of it is in flight', async () => {
    const enforcer = enforce([step('a')])
    const slow = enforcer.call('a', {}, () => soon())
    await Promise.resolve()
    expect(() => enforcer.reset()).toThrow(expect.objectContaining({ code: 'calls_in_flight' }) as Error)
    await slow
    enforcer.reset()
    expect(statuses(enforcer)).toBe('a pending')
  })

  it('G5: what a call says of its risk cannot make a registered tool milder', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      risk: 'irreversible',
      execute: () => Promise.reject(new Error('cut')),
    })
    const enforcer = enforce([step('pay')], {}, { tools: [pay] })
    expect(await enforcer.call('pay', {}, undefined, { risk: 'read' })).toMatchObject({ status: 'unknown' })
  })

  it('G5: arguments are copied when the call is made, so one object can serve for many calls', async () => {
    const enforcer = enforce([step('a', many)])
    const order = { id: 'A' }
    const sent: unknown[] = []
    const calls = ['A', 'B', 'C'].map((id) => {
      order.id = id
      return enforcer.call('a', order, ({ id: given }) => sent.push(given))
    })
    await Promise.all(calls)
    expect(sent).toEqual(['A', 'B', 'C'])
  })

  it('G5: whatever a tool throws, its call is settled', async () => {
    const enforcer = enforce([step('a', many)])
    const outcome = await enforcer.call('a', {}, () => Promise.reject(Object.create(null)))
    expect(outcome.status).toBe('unknown')
  })
})
