import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { APICallError, wrapLanguageModel, type LanguageModel } from 'ai'
import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { Answer } from '../../src/agent/answering-model.ts'
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

/** A call whose arguments are this text. */
function raw(tool: string, input: string, tokens = 0): Answer {
  return {
    content: [{ type: 'tool-call', toolCallId: 'c1', toolName: tool, input }],
    promptTokens: tokens,
    completionTokens: tokens,
  }
}

describe('arguments that are no JSON object', () => {
  test('are asked for once more, for that call alone, and used if they are one then', async () => {
    const got: unknown[] = []
    const tools = [noting([], 'a', 'write', (args) => got.push(args)), noting([], 'b')]
    const model = answering(raw('a', '{"id": 1', 10), raw('a', '{"id": 1}', 5), saying('Done.'))
    const result = await new Agent({ model, tools }).run('go')
    expect(result.status).toBe('succeeded')
    expect(got).toEqual([{ id: 1 }])
    expect(model.questions[1]!.tools).toEqual(['a'])
    expect(model.questions[1]!.conversation).toContain('arguments that are no JSON object')
    expect(result.metrics).toMatchObject({ promptTokens: 15, completionTokens: 15, iterations: 2 })
  })

  test.each(['{"id": 1', '[1]', '"text"', 'null'])(
    'are refused as invalid_arguments when they are none again, and nothing runs: %s',
    async (input) => {
      const { log, tools } = notingAll('a')
      const model = watched((number) => (number <= 2 ? raw('a', input) : saying('Done.')))
      const result = await new Agent({ model, tools }).run('go')
      expect(log).toEqual([])
      expect(shownResults(model.questions[2]!)).toMatchObject([
        { value: { executed: false, code: 'invalid_arguments' } },
      ])
      expect(result.violations).toMatchObject([{ violationType: 'invalid_arguments' }])
    },
  )

  test('that are no text at all are none, and the tool is called without any', async () => {
    const { log, tools } = notingAll('a')
    await new Agent({ model: answering(raw('a', ''), saying('Done.')), tools }).run('go')
    expect(log).toEqual(['a'])
  })

  test('are refused when the model says something else instead', async () => {
    const { log, tools } = notingAll('a')
    const model = answering(raw('a', '{'), saying('I would rather not.'), saying('Done.'))
    const result = await new Agent({ model, tools }).run('go')
    expect(log).toEqual([])
    expect(result.violations).toMatchObject([{ violationType: 'invalid_arguments' }])
  })

  test('are repaired in a stream too', async () => {
    const { log, tools } = notingAll('a')
    const model = answering(raw('a', '{'), raw('a', '{}'), saying('Done.'))
    const stream = new Agent({ model, tools }).stream('go')
    expect((await stream.result).status).toBe('succeeded')
    expect(log).toEqual(['a'])
  })
})

describe('arguments that do not fit the tool', () => {
  test('are refused by the gate with what is wrong, and the model may try again', async () => {
    const { createDemoDesk } = await import('../../src/cli/demo-desk.ts')
    const desk = createDemoDesk()
    const model = answering(
      proposing(['lookup_order', { order: 'ORD-42' }]),
      proposing(['lookup_order', { order_id: 'ORD-42' }]),
      saying('Done.'),
    )
    const result = await new Agent({ model, tools: desk.tools }).run('go')
    expect(shownResults(model.questions[1]!)).toMatchObject([
      { value: { code: 'invalid_arguments', message: expect.stringContaining('order_id') } },
    ])
    expect(result.status).toBe('succeeded')
  })
})

describe('a tool that the model invents', () => {
  test('reaches the gate and is denied with the reason', async () => {
    const { log, tools } = notingAll('a')
    const model = answering(proposing('launch'), proposing('a'), saying('Done.'))
    const playbook = playbookOf([step('a')], { allowExtraTools: true })
    const result = await new Agent({ model, tools, playbook }).run('go')
    expect(result.violations).toMatchObject([{ violationType: 'unknown_tool', toolName: 'launch' }])
    expect(JSON.stringify(shownResults(model.questions[1]!))).toContain("There is no tool 'launch'")
    expect(log).toEqual(['a'])
  })

  test.each(['../../bin/sh', '', 'rëfund', '__proto__', 'constructor', 'x'.repeat(300)])(
    'is denied whatever it is called: %j',
    async (name) => {
      const { log, tools } = notingAll('a')
      const model = answering(proposing(name), saying('Done.'))
      const result = await new Agent({ model, tools }).run('go')
      expect(log).toEqual([])
      expect(result.status).toBe('succeeded')
      expect(result.violations).toHaveLength(1)
    },
  )
})

describe('a tool that the service runs by itself', () => {
  const answers: [string, Answer][] = [
    [
      'call and result',
      {
        content: [
          {
            type: 'tool-call',
            toolCallId: 'p1',
            toolName: 'search',
            input: '{}',
            providerExecuted: true,
            dynamic: true,
          },
          { type: 'tool-result', toolCallId: 'p1', toolName: 'search', result: { hits: 3 }, dynamic: true },
          { type: 'text', text: 'Done.' },
        ],
      },
    ],
    [
      'call alone',
      {
        content: [
          { type: 'tool-call', toolCallId: 'p1', toolName: 'a', input: '{}', providerExecuted: true },
          { type: 'text', text: 'Done.' },
        ],
      },
    ],
  ]

  test.each(answers)('fails the run, in one sentence that names it (%s)', async (_, answer) => {
    const { log, tools } = notingAll('a')
    for (const agent of [new Agent({ model: answering(answer), tools })]) {
      const result = await agent.run('go')
      expect(result.status).toBe('failed')
      expect(result.reason).toMatch(/service ran '(search|a)' by itself, around the gate/)
      expect(await agent.stream('go').result).toMatchObject({ status: 'failed', reason: result.reason })
    }
    expect(log).toEqual([])
  })
})

describe('an error of the service', () => {
  const fault = (statusCode: number, headers: Record<string, string> = { 'retry-after-ms': '1' }) =>
    new APICallError({
      message: `fault ${statusCode}`,
      url: 'test',
      requestBodyValues: {},
      statusCode,
      responseHeaders: headers,
    })

  test('that passes is retried, and the run goes on', async () => {
    const model = watched((number) => {
      if (number <= 2) throw fault(number === 1 ? 429 : 503)
      return saying('Done.')
    })
    expect(await new Agent({ model }).run('go')).toMatchObject({ status: 'succeeded', message: 'Done.' })
    expect(model.questions).toHaveLength(3)
  })

  test('that does not pass fails the run after as many tries as were asked for', async () => {
    const model = watched(() => {
      throw fault(500)
    })
    const result = await new Agent({ model, maxRetries: 1 }).run('go')
    expect(result).toMatchObject({ status: 'failed', reason: /gave no answer: .*2 attempts.*fault 500/ })
    expect(model.questions).toHaveLength(2)
  })

  test('that no retry would mend fails the run at once, in one line', async () => {
    const { tools } = notingAll('a')
    const model = watched(() => {
      throw fault(401)
    })
    const result = await new Agent({ model, tools }).run('go')
    expect(result).toMatchObject({
      status: 'failed',
      reason: 'the model gave no answer: fault 401',
      message: '',
    })
    expect(model.questions).toHaveLength(1)
    expect(result.snapshot.entries.at(-1)).toMatchObject({ type: 'run.finished' })
    const loud = watched(() => {
      throw new Error(`${'<html>\n'.repeat(1_000)}`)
    })
    const page = await new Agent({ model: loud }).run('go')
    expect(page.reason).not.toContain('\n')
    expect(page.reason!.length).toBeLessThan(600)
  })

  test('in a scripted turn is one of the service', async () => {
    const result = await agentOf([{ error: { message: 'no such model', status: 404 } }]).run('go')
    expect(result).toMatchObject({ status: 'failed', reason: 'the model gave no answer: no such model' })
  })

  test('after some work keeps the work and its record', async () => {
    const { log, tools } = notingAll('a', 'b')
    const turns = [calls('a'), { error: { message: 'gone', status: 400 } }, says('x')]
    const result = await agentOf(turns, { tools, playbook: playbookOf([step('a'), step('b')]) }).run('go')
    expect(result.status).toBe('failed')
    expect(log).toEqual(['a'])
    expect(result.playbookPlan.getStepExecution('a')?.status).toBe('completed')
  })
})

describe('a stream that breaks off', () => {
  const broken = { 'retry-after-ms': '1' }

  function breaking(error: unknown) {
    const model = answering(saying('All is done.'))
    let asked = 0
    return {
      ...model,
      questions: model.questions,
      async doStream(options: LanguageModelV4CallOptions) {
        const { stream } = await model.doStream(options)
        if (++asked > 1) return { stream }
        const parts = new ReadableStream<LanguageModelV4StreamPart>({
          start(controller) {
            controller.enqueue({ type: 'text-start', id: '0' })
            controller.enqueue({ type: 'text-delta', id: '0', delta: 'All' })
            controller.enqueue({ type: 'error', error })
          },
        })
        return { stream: parts }
      },
    }
  }

  test('is asked for anew, and only the whole answer counts', async () => {
    const cut = Object.assign(new Error('cut'), { responseHeaders: broken })
    const model = breaking(cut)
    const stream = new Agent({ model }).stream('go')
    expect(await stream.result).toMatchObject({ status: 'succeeded', message: 'All is done.' })
    expect(model.questions).toHaveLength(2)
  })

  test('is not where the service says that it would break again', async () => {
    const fatal = Object.assign(new Error('bad request'), { responseHeaders: broken, isRetryable: false })
    const result = await new Agent({ model: breaking(fatal) }).stream('go').result
    expect(result).toMatchObject({ status: 'failed', reason: 'the model gave no answer: bad request' })
  })
})

describe('a model of an older interface', () => {
  test.each(['v2', 'v3'])('is asked all the same: %s', async (version) => {
    const { log, tools } = notingAll('a')
    const newest = answering(proposing('a'), saying('Done.'))
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    const model = {
      ...newest,
      specificationVersion: version,
      async doGenerate(options: LanguageModelV4CallOptions) {
        const answer = await newest.doGenerate(options)
        return version === 'v3' ? answer : { ...answer, finishReason: answer.finishReason.unified, usage }
      },
    } as unknown as LanguageModel
    expect(await new Agent({ model, tools }).run('go')).toMatchObject({ status: 'succeeded' })
    expect(log).toEqual(['a'])
  })

  test('that nobody knows cannot be', async () => {
    const model = { ...answering(saying('x')), specificationVersion: 'v9' } as unknown as LanguageModel
    await expect(new Agent({ model }).run('go')).rejects.toMatchObject({ code: 'unknown_model' })
  })
})

test('middleware that writes into a question does not write into the next one', async () => {
  const { tools } = notingAll('a')
  const seen: string[] = []
  const model = wrapLanguageModel({
    model: answering(proposing('a'), proposing('a'), saying('Done.')),
    middleware: {
      transformParams: async ({ params }) => {
        seen.push(JSON.stringify(params.prompt))
        for (const message of params.prompt) {
          Object.assign(message, { providerOptions: { x: { marked: true } } })
          if (message.role !== 'system')
            for (const part of message.content) Object.assign(part, { text: '!' })
        }
        return params
      },
    },
  })
  expect((await new Agent({ model, tools }).run('go')).status).toBe('succeeded')
  expect(seen).toHaveLength(3)
  expect(seen[2]).not.toMatch(/marked|!/)
})
