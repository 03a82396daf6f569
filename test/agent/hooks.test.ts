import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentHook } from '../../src/agent/hook.ts'
import type { Json } from '../../src/shared/json.ts'
import {
  agentOf,
  answering,
  calls,
  noting,
  notingAll,
  playbookOf,
  proposing,
  saying,
  says,
  shownResults,
  step,
} from './run-agent.ts'

const book = playbookOf([step('a'), step('b')])

describe('hooks around a tool call', () => {
  test('run in the order of the list before it, and in the reverse order after it', async () => {
    const order: string[] = []
    const hook = (name: string): AgentHook => ({
      name,
      beforeModelCall: () => void order.push(`${name} before model`),
      afterModelCall: () => void order.push(`${name} after model`),
      beforeToolCall: () => void order.push(`${name} before tool`),
      afterToolCall: () => void order.push(`${name} after tool`),
    })
    const tools = [noting([], 'a', 'write', () => void order.push('tool'))]
    await agentOf([calls('a')], { tools, hooks: [hook('1'), hook('2')], maxIterations: 1 }).run('go')
    expect(order).toEqual([
      '1 before model',
      '2 before model',
      '2 after model',
      '1 after model',
      '1 before tool',
      '2 before tool',
      'tool',
      '2 after tool',
      '1 after tool',
    ])
  })

  test('replace the arguments one after another, and the gate judges what they leave', async () => {
    const got: Json[] = []
    const tools = [noting([], 'pay', 'write', (args) => void got.push(args))]
    const playbook = playbookOf([step('pay')], { rules: [{ tool: 'pay', require: 'args.amount <= 10' }] })
    const add = (amount: number): AgentHook => ({
      beforeToolCall: ({ arguments: args }) => ({
        arguments: { amount: (args as { amount: number }).amount + amount },
      }),
    })
    const run = async (hooks: AgentHook[]) =>
      await agentOf([calls(['pay', { amount: 5 }]), says('x'), says('x'), says('x')], {
        tools,
        playbook,
        hooks,
      }).run('go')
    expect((await run([add(1), add(2)])).status).toBe('succeeded')
    expect(got).toEqual([{ amount: 8 }])
    expect((await run([add(1), add(20)])).violations).toMatchObject([{ violationType: 'rule' }])
    expect(got).toHaveLength(1)
  })

  test('deny the call: it is refused as vetoed, recorded, and the reason reaches the model', async () => {
    const { log, tools } = notingAll('a', 'b')
    const model = answering(proposing('a'), saying('x'))
    const hooks = [{ beforeToolCall: () => ({ deny: 'not on a Sunday' }) }]
    const result = await new Agent({ model, tools, playbook: book, hooks }).run('go')
    expect(log).toEqual([])
    expect(result.violations).toMatchObject([{ violationType: 'vetoed', blocked: true }])
    expect(shownResults(model.questions[1]!)).toMatchObject([
      { value: { executed: false, code: 'vetoed', message: expect.stringContaining('not on a Sunday') } },
    ])
  })

  test.each([
    ['throws', () => Promise.reject(new Error('down'))],
    [
      'throws at once',
      () => {
        throw new Error('down')
      },
    ],
    ['answers with what is no answer', () => ({ args: {} }) as never],
    ['answers with a text', () => 'fine' as never],
  ])('deny the call when one of them %s', async (_, beforeToolCall) => {
    const { log, tools } = notingAll('a', 'b')
    const hooks = [{ name: 'guard', beforeToolCall }]
    const result = await agentOf([calls('a'), says('x'), says('x'), says('x')], {
      tools,
      playbook: book,
      hooks,
    }).run('go')
    expect(log).toEqual([])
    expect(result.violations).toMatchObject([{ violationType: 'vetoed', message: /guard/ }])
  })

  test('cannot make a verdict milder: what the playbook denies stays denied', async () => {
    const { log, tools } = notingAll('a', 'b')
    const hooks = [{ beforeToolCall: () => ({ arguments: { please: true } }) }]
    await agentOf([calls('b'), says('x'), says('x'), says('x')], { tools, playbook: book, hooks }).run('go')
    expect(log).toEqual([])
  })

  test('cannot change the arguments in place', async () => {
    const got: Json[] = []
    const tools = [noting([], 'a', 'write', (args) => void got.push(args))]
    const change: AgentHook = {
      beforeToolCall: ({ arguments: args }) => {
        ;(args as { amount: number }).amount = 1_000
      },
    }
    await agentOf([calls(['a', { amount: 5 }]), says('x')], { tools, hooks: [change] }).run('go')
    expect(got).toEqual([{ amount: 5 }])
  })

  test('replace what the model is shown, while the record keeps what the tool said', async () => {
    const tools = [noting([], 'a', 'write', () => ({ card: '4111' }))]
    const model = answering(proposing('a'), saying('x'))
    const hooks = [{ afterToolCall: () => ({ result: { card: '****' } }) }]
    const result = await new Agent({ model, tools, hooks }).run('go')
    expect(shownResults(model.questions[1]!)).toEqual([{ type: 'json', value: { card: '****' } }])
    const settled = result.snapshot.entries.find(({ type }) => type === 'tool.settled')
    expect(settled?.data['result']).toEqual({ card: '4111' })
  })

  test('that throw afterwards keep the result back, and the call stays done', async () => {
    const { log, tools } = notingAll('a')
    const model = answering(proposing('a'), saying('x'))
    const hooks: AgentHook[] = [
      {
        name: 'redact',
        afterToolCall: () => {
          throw new Error('no pattern')
        },
      },
    ]
    const result = await new Agent({ model, tools, hooks }).run('go')
    expect(log).toEqual(['a'])
    expect(JSON.stringify(shownResults(model.questions[1]!))).toContain(
      'not shown: redact failed: no pattern',
    )
    expect(JSON.stringify(shownResults(model.questions[1]!))).not.toContain('from')
    expect(result.status).toBe('succeeded')
  })

  test('that take their time do not change the order in which calls are judged', async () => {
    const log: string[] = []
    const tools = [noting(log, 'a', 'read'), noting(log, 'b', 'read')]
    const slow: AgentHook = {
      beforeToolCall: async ({ tool }) => {
        await new Promise((resolve) => setTimeout(resolve, tool === 'a' ? 30 : 0))
      },
    }
    const result = await agentOf([calls('a', 'b'), says('x')], { tools, playbook: book, hooks: [slow] }).run(
      'go',
    )
    expect(result).toMatchObject({ status: 'succeeded', violations: [] })
  })
})

describe('hooks around the model', () => {
  test.each([
    ['denies', () => ({ deny: 'out of hours' }), 'out of hours'],
    [
      'throws',
      () => {
        throw new Error('down')
      },
      'clock failed: down',
    ],
    ['fails later', () => Promise.reject(new Error('down')), 'clock failed: down'],
    ['answers with what is no answer', () => ({}) as never, 'clock answered with what it cannot'],
  ])(
    'the run fails with the reason when one %s before the model is asked',
    async (_, beforeModelCall, reason) => {
      const model = answering(saying('x'))
      const result = await new Agent({ model, hooks: [{ name: 'clock', beforeModelCall }] }).run('go')
      expect(result).toMatchObject({ status: 'failed', reason })
      expect(model.questions).toEqual([])
    },
  )

  test.each([
    ['denies', () => ({ deny: 'it swore' }), 'it swore'],
    ['throws', () => Promise.reject(new Error('down')), 'judge failed: down'],
  ])('nothing of an answer is carried out when one %s after it', async (_, afterModelCall, reason) => {
    const { log, tools } = notingAll('a')
    const hooks = [{ name: 'judge', afterModelCall }]
    const result = await agentOf([calls('a')], { tools, hooks }).run('go')
    expect(result).toMatchObject({ status: 'failed', reason })
    expect(log).toEqual([])
  })

  test('a turn that is resumed is shown to them too, so that none passes by', async () => {
    const { log, tools } = notingAll('a')
    const first = await agentOf([calls('a'), says('x')], { tools }).run('go')
    const cut = first.snapshot.entries.findIndex(({ type }) => type === 'model.answered') + 1
    const hooks = [{ afterModelCall: () => ({ deny: 'no' }) }]
    const result = await agentOf([says('x')], { tools, hooks }).resume({
      run: first.run,
      entries: first.snapshot.entries.slice(0, cut),
    })
    expect(result.status).toBe('failed')
    expect(log).toEqual(['a'])
  })
})

describe('hooks that listen to steps', () => {
  test('hear of every step that moves, in order', async () => {
    const heard: string[] = []
    const { tools } = notingAll('a', 'b')
    const hooks = [
      { onStep: ({ type, step: id }: { type: string; step: string }) => heard.push(`${id} ${type}`) },
    ]
    await agentOf([calls('a'), calls('b'), says('x')], { tools, playbook: book, hooks }).run('go')
    expect(heard).toEqual(['a step.completed', 'b step.completed'])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('pager down')
      },
    ],
    ['fails later', () => Promise.reject(new Error('pager down'))],
  ])('let nothing more through when one %s, and the record is whole', async (_, fail) => {
    const { log, tools } = notingAll('a', 'b')
    const onStep = ({ type }: { type: string }) => (type === 'step.completed' ? fail() : undefined)
    const result = await agentOf([calls('a', 'b'), says('x')], {
      tools,
      playbook: book,
      hooks: [{ name: 'pager', onStep }],
    }).run('go')
    expect(result).toMatchObject({ status: 'failed', reason: 'pager failed: pager down' })
    expect(log).toEqual(['a'])
    expect(result.snapshot.entries.map(({ type }) => type)).toContain('step.completed')
  })
})
