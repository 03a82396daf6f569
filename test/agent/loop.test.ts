import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { PlaybookEnforcerHook } from '../../src/agent/playbook-enforcer-hook.ts'
import { tool } from '../../src/tool/tool.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
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
  watched,
} from './run-agent.ts'

const three = playbookOf([step('a'), step('b'), step('c')])

describe('an agent with a playbook', () => {
  test('has the hook that enforces it; an agent without one has not', () => {
    const { tools } = notingAll('a', 'b', 'c')
    const model = answering(saying('x'))
    expect(new Agent({ model, tools, playbook: three }).hooks).toMatchObject([{ name: 'PlaybookEnforcer' }])
    expect(new Agent({ model, tools }).hooks).toEqual([])
  })

  test('given as a hook is held to it all the same, and to one playbook only', async () => {
    const { log, tools } = notingAll('a', 'b', 'c')
    const hook = new PlaybookEnforcerHook({ playbook: three })
    const agent = agentOf([calls('c'), says('x'), says('x'), says('x')], { tools, hooks: [hook] })
    expect((await agent.run('go')).status).toBe('incomplete')
    expect(log).toEqual([])
    expect(() => agentOf([says('x')], { tools, hooks: [hook], playbook: three })).toThrow(
      /held to one playbook/,
    )
  })

  test('completes every step when the calls come in order, with no violation', async () => {
    const { log, tools } = notingAll('a', 'b', 'c')
    const agent = agentOf([calls('a'), calls('b'), calls('c'), says('Done.')], { tools, playbook: three })
    const result = await agent.run('go')
    expect(result).toMatchObject({ status: 'succeeded', message: 'Done.', reason: null, violations: [] })
    expect(result.playbookPlan.completedSteps).toHaveLength(3)
    expect(log).toEqual(['a', 'b', 'c'])
  })

  test('does not run the tool of a later step: the model is told, the step stays, the violation is kept', async () => {
    const { log, tools } = notingAll('a', 'b', 'c')
    const model = answering(proposing('c'), saying('x'))
    const result = await new Agent({ model, tools, playbook: three }).run('go')
    expect(log).toEqual([])
    expect(shownResults(model.questions[1]!)).toMatchObject([
      { type: 'error-json', value: { executed: false, code: 'out_of_sequence', step: 'a', allowed: ['a'] } },
    ])
    expect(result.playbookPlan.currentStepIndex).toBe(0)
    expect(result.violations).toMatchObject([{ violationType: 'out_of_sequence', toolName: 'c' }])
  })

  test('may use other tools where the playbook allows extras, and they complete nothing', async () => {
    const { log, tools } = notingAll('a', 'other')
    const playbook = playbookOf([step('a')], { allowExtraTools: true })
    const result = await agentOf([calls('other'), calls('a'), says('Done.')], { tools, playbook }).run('go')
    expect(log).toEqual(['other', 'a'])
    expect(result).toMatchObject({ status: 'succeeded', violations: [] })
    expect(result.playbookPlan.getStepExecution('a')?.status).toBe('completed')
  })

  test('is refused at construction when the playbook names a tool it is not given, with the nearest name', () => {
    const { tools } = notingAll('refund_order')
    const playbook = playbookOf([step('refund_orders')])
    expect(() => agentOf([says('x')], { tools, playbook })).toThrow(
      expect.objectContaining({ code: 'unknown_tool', hint: expect.stringContaining('refund_order') }),
    )
  })

  test('is refused at construction when a tool has the name of a control tool', () => {
    const { tools } = notingAll('complete_step')
    expect(() => agentOf([says('x')], { tools })).toThrow(/complete_step/)
  })

  test('starts every run with a plan of its own, one after another and at once', async () => {
    const { log, tools } = notingAll('a', 'b')
    const playbook = playbookOf([step('a'), step('b')])
    const model = watched((_, { conversation }) => {
      const done = (conversation.match(/"toolCallId"/g) ?? []).length / 2
      return done === 0 ? proposing('a') : done === 1 ? proposing('b') : saying('Done.')
    })
    const agent = new Agent({ model, tools, playbook })
    expect((await agent.run('first')).status).toBe('succeeded')
    expect((await agent.run('second')).status).toBe('succeeded')
    const together = await Promise.all([agent.run('third'), agent.run('fourth'), agent.run('fifth')])
    expect(together.map(({ status, violations }) => [status, violations])).toEqual(
      together.map(() => ['succeeded', []]),
    )
    expect(new Set(together.map(({ run }) => run)).size).toBe(3)
    expect(log.toSorted().join('')).toBe('aaaaabbbbb')
  })
})

describe('an agent without a playbook', () => {
  test('uses its tools freely and ends with its answer', async () => {
    const { log, tools } = notingAll('a', 'b')
    const result = await agentOf([calls('b', 'a'), says('Done.')], { tools }).run('go')
    expect(result).toMatchObject({ status: 'succeeded', message: 'Done.' })
    expect(log).toEqual(['b', 'a'])
  })

  test('is offered no control tools', async () => {
    const model = answering(saying('Done.'))
    await new Agent({ model, tools: notingAll('a').tools }).run('go')
    expect(model.questions[0]!.tools).toEqual(['a'])
  })
})

describe('the final answer (G9)', () => {
  test('is sent back while required steps are open, with what remains', async () => {
    const { tools } = notingAll('a', 'b', 'c')
    const model = answering(saying('Done.'), proposing('a'), proposing('b'), proposing('c'), saying('Now.'))
    const result = await new Agent({ model, tools, playbook: three }).run('go')
    expect(result).toMatchObject({ status: 'succeeded', message: 'Now.' })
    expect(model.questions[1]!.conversation).toContain('these required steps are not done: a, b, c.')
  })

  test('ends the run incomplete after two that were sent back, never succeeded', async () => {
    const { tools } = notingAll('a', 'b', 'c')
    const model = answering(saying('Done.'))
    const result = await new Agent({ model, tools, playbook: three }).run('go')
    expect(result).toMatchObject({ status: 'incomplete', message: 'Done.' })
    expect(result.reason).toContain('a, b, c')
    expect(model.questions).toHaveLength(3)
  })

  test('that calls itself a tool ends nothing: a blocked terminal tool leaves the run open', async () => {
    const { log, tools } = notingAll('a', 'submit')
    const playbook = playbookOf([step('a'), step('submit')])
    const model = answering(proposing('submit'), proposing('a'), proposing('submit'), saying('Done.'))
    const result = await new Agent({ model, tools, playbook }).run('go')
    expect(result.status).toBe('succeeded')
    expect(log).toEqual(['a', 'submit'])
  })

  test('completes a last step that asks for nothing but an answer', async () => {
    const { tools } = notingAll('a')
    const playbook = playbookOf([step('a'), step('report', { expectedTools: [] })])
    const result = await agentOf([calls('a'), says('It is fine.')], { tools, playbook }).run('go')
    expect(result.status).toBe('succeeded')
    expect(result.playbookPlan.getStepExecution('report')).toMatchObject({ result: 'It is fine.' })
  })

  test('that is empty is no answer, and the run ends incomplete with the reason', async () => {
    const { tools } = notingAll('a')
    const model = answering(proposing('a'), saying(''))
    const result = await new Agent({ model, tools, playbook: playbookOf([step('a')]) }).run('go')
    expect(result).toMatchObject({
      status: 'incomplete',
      reason: 'the model answered nothing, 3 times in a row',
    })
    expect(model.questions[2]!.conversation).toContain('Your answer was empty')
  })
})

describe('the moves of a step', () => {
  const steps = [
    step('look', { expectedTools: [] }),
    step('extra', { expectedTools: ['extra'], required: false }),
    step('act'),
  ]

  test('complete_step completes what asks for a declaration, skip_step passes what is optional', async () => {
    const { log, tools } = notingAll('extra', 'act')
    const playbook = playbookOf(steps)
    const result = await agentOf(
      [
        { calls: [{ tool: 'complete_step', arguments: { result: 'looked' } }] },
        { calls: [{ tool: 'skip_step', arguments: { reason: 'no need' } }] },
        calls('act'),
        says('Done.'),
      ],
      { tools, playbook },
    ).run('go')
    expect(result.status).toBe('succeeded')
    expect(result.playbookPlan.executions.map(({ status, result }) => [status, result])).toEqual([
      ['completed', 'looked'],
      ['skipped', 'no need'],
      ['completed', null],
    ])
    expect(log).toEqual(['act'])
  })

  test('fail_step fails the run when the step is required', async () => {
    const { tools } = notingAll('extra', 'act')
    const result = await agentOf([{ calls: [{ tool: 'fail_step', arguments: { error: 'no order' } }] }], {
      tools,
      playbook: playbookOf(steps),
    }).run('go')
    expect(result).toMatchObject({ status: 'failed' })
    expect(result.reason).toContain('no order')
  })

  test('that the gate refuses come back with the reason and change nothing', async () => {
    const { tools } = notingAll('extra', 'act')
    const model = answering(proposing('skip_step'), saying('x'))
    const result = await new Agent({ model, tools, playbook: playbookOf(steps) }).run('go')
    expect(shownResults(model.questions[1]!)).toMatchObject([
      { type: 'error-json', value: { executed: false, message: expect.stringContaining('required') } },
    ])
    expect(result.playbookPlan.currentStepIndex).toBe(0)
  })

  test('stop the calls after them in the turn when they are refused', async () => {
    const { log, tools } = notingAll('act')
    const playbook = playbookOf([step('act')])
    await agentOf([calls('skip_step', 'act'), says('x'), says('x'), says('x')], { tools, playbook }).run('go')
    expect(log).toEqual([])
  })
})

describe('the calls of one turn (G5)', () => {
  test('reads run side by side', async () => {
    const log: string[] = []
    let running = 0
    let most = 0
    const all = Promise.withResolvers<void>()
    const slow = async () => {
      running++
      most = Math.max(most, running)
      if (running === 3) all.resolve()
      // Each waits for the others; not for ever, if they do not come.
      await Promise.race([all.promise, new Promise((resolve) => setTimeout(resolve, 3_000).unref())])
      running--
    }
    const tools = ['x', 'y', 'z'].map((name) => noting(log, name, 'read', slow))
    await agentOf([calls('x', 'y', 'z'), says('Done.')], { tools }).run('go')
    expect(most).toBe(3)
  })

  test('writes run alone, in the order of the turn', async () => {
    const log: string[] = []
    const slow = (name: string, ms: number) =>
      noting(log, name, 'write', async () => {
        await new Promise((resolve) => setTimeout(resolve, ms))
        log.push(`${name} done`)
      })
    await agentOf([calls('x', 'y'), says('Done.')], { tools: [slow('x', 20), slow('y', 1)] }).run('go')
    expect(log).toEqual(['x', 'x done', 'y', 'y done'])
  })

  test('a call may complete the step that the next call of the turn needs', async () => {
    const { log, tools } = notingAll('a', 'b', 'c')
    const result = await agentOf([calls('a', 'b', 'c'), says('Done.')], { tools, playbook: three }).run('go')
    expect(result).toMatchObject({ status: 'succeeded', violations: [] })
    expect(log).toEqual(['a', 'b', 'c'])
  })

  test('after a denial the later writes come back not executed, while reads go on', async () => {
    const log: string[] = []
    const tools = [noting(log, 'a'), noting(log, 'b'), noting(log, 'look', 'read')]
    const playbook = playbookOf([step('a'), step('b')], { allowExtraTools: true })
    const model = answering(proposing('b', 'look', 'a'), proposing('a'), proposing('b'), saying('Done.'))
    await new Agent({ model, tools, playbook }).run('go')
    expect(log).toEqual(['look', 'a', 'b'])
    expect(shownResults(model.questions[1]!)).toMatchObject([
      { value: { code: 'out_of_sequence' } },
      { type: 'json' },
      { value: { executed: false, code: 'not_executed' } },
    ])
  })

  test('of two calls with one id the first is made, once, and the other is not', async () => {
    const { log, tools } = notingAll('a', 'b')
    const content = ['a', 'b'].map((toolName) => ({
      type: 'tool-call' as const,
      toolCallId: 'same',
      toolName,
      input: '{}',
    }))
    const model = answering({ content }, saying('Done.'))
    const result = await new Agent({ model, tools }).run('go')
    expect(result.status).toBe('succeeded')
    expect(log).toEqual(['a'])
    expect(shownResults(model.questions[1]!)).toMatchObject([{ value: { from: 'a' } }])
  })
})

describe('what became of a call reaches the model', () => {
  const told = async (work: () => unknown, risk: 'read' | 'write' = 'write') => {
    const model = answering(proposing('t'), saying('Done.'))
    await new Agent({ model, tools: [noting([], 't', risk, work)] }).run('go')
    return JSON.stringify(shownResults(model.questions[1]!))
  }

  test('a failure with what the tool said, and that nothing was applied', async () => {
    const fail = () => {
      throw new ToolFailure('the shop is closed')
    }
    expect(await told(fail)).toMatch(/nothing was applied: the shop is closed/)
  })

  test('an unclassified error of a tool that writes as of unknown outcome, not to be repeated', async () => {
    const fail = () => {
      throw new Error('socket hang up')
    }
    expect(await told(fail)).toMatch(/Nobody knows.*socket hang up.*Do not repeat/)
  })

  test('a result that is too long is cut, with a note that it was', async () => {
    const model = answering(proposing('t'), saying('Done.'))
    const long = tool({ name: 't', description: 'T', maxResultBytes: 100, execute: () => 'é'.repeat(1_000) })
    await new Agent({ model, tools: [long] }).run('go')
    const shown = shownResults(model.questions[1]!) as { value: string }[]
    expect(shown[0]!.value.startsWith('é'.repeat(50) + '\n[cut:')).toBe(true)
    expect(shown[0]!.value).toContain('2000 bytes')
  })

  test('an error that is too long is cut too', async () => {
    const fail = () => {
      throw new Error('x'.repeat(1_000_000))
    }
    expect((await told(fail)).length).toBeLessThan(70_000)
  })

  test('a call that takes too long is given up', async () => {
    const model = answering(proposing('t'), saying('x'))
    const slow = tool({
      name: 't',
      description: 'T',
      risk: 'read',
      timeoutSeconds: 0.02,
      execute: () => new Promise((resolve) => setTimeout(resolve, 5_000).unref()),
    })
    await new Agent({ model, tools: [slow] }).run('go')
    expect(JSON.stringify(shownResults(model.questions[1]!))).toContain('longer than 0.02 s')
  })
})
