import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LanguageModelV4, LanguageModelV4Usage } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { agentTool } from '../../src/agent/agent-tool.ts'
import { answering, notingAll, proposing, saying, watched, type Question } from './run-agent.ts'

const silent: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

function usage(prompt: number | undefined, completion: number | undefined): LanguageModelV4Usage {
  return {
    inputTokens: { ...silent.inputTokens, total: prompt },
    outputTokens: { ...silent.outputTokens, total: completion },
  }
}

/** A model that calls `a` for ever, and says this of what it used. */
function telling(
  told: LanguageModelV4Usage,
  modelId = 'gpt-4o',
): LanguageModelV4 & { questions: Question[] } {
  const model = watched(() => proposing('a'), modelId)
  const { doGenerate } = model
  return Object.assign(model, {
    doGenerate: async (options: Parameters<typeof doGenerate>[0]) => ({
      ...(await doGenerate(options)),
      usage: told,
    }),
  })
}

function agentOn(model: LanguageModelV4, options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ model, tools: notingAll('a').tools, maxIterations: 9, ...options })
}

describe('a service that does not say what it used', () => {
  test.each([
    silent,
    usage(Number.NaN, Number.NaN),
    usage(-100, 5),
    usage(10, undefined),
    usage(Infinity, 1),
  ])('has no cost that is known, and is counted by estimate: %j', async (told) => {
    const { metrics, status } = await agentOn(telling(told), { maxIterations: 2 }).run('go')
    expect(status).toBe('failed')
    expect(metrics.cost).toBeNull()
    expect(metrics.estimatedTokens).toBeGreaterThan(0)
    expect(metrics.promptTokens).toBeGreaterThanOrEqual(0)
  })

  test('uses up a budget in tokens by estimate, and the reason says so', async () => {
    const model = telling(silent)
    const result = await agentOn(model, { budget: { tokens: 1 } }).run('go')
    expect(result.reason).toMatch(
      /^the budget of 1 tokens is used up \(by estimate, because its service does not say: \d+\)$/,
    )
    expect(model.questions).toHaveLength(1)
  })

  test('uses up a budget in dollars by estimate', async () => {
    const model = telling(silent)
    const result = await agentOn(model, { budget: { dollars: 0.000_001 } }).run('go')
    expect(result.reason).toMatch(/^the budget of \$0.000001 is used up \(by estimate/)
    expect(model.questions).toHaveLength(1)
    expect(result.metrics.cost).toBeNull()
  })

  test('is counted by the runs above, also when they are resumed', async () => {
    const child = agentOn(telling(silent), { maxIterations: 1 })
    const tools = [agentTool(child, { name: 'child', description: 'Works.' })]
    const model = () => answering(proposing(['child', { prompt: 'x' }]), saying('Done.'))
    const first = await new Agent({ model: model(), tools, maxIterations: 1 }).run('go')
    expect(first.metrics.estimatedTokens).toBeGreaterThan(0)
    const entries = first.snapshot.entries.filter(({ type }) => type !== 'run.finished')
    const agent = new Agent({ model: model(), tools, budget: { tokens: 10 } })
    const { reason } = await agent.resume({ run: first.run, entries })
    expect(reason).toContain('the budget of 10 tokens is used up (by estimate')
  })

  test('is asked to say it where it streams, if it speaks the protocol of OpenAI', async () => {
    const bodies: unknown[] = []
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (data: Buffer) => (body += data.toString()))
      request.on('end', () => {
        bodies.push(JSON.parse(body))
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const base = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' }
        const chunk = { ...base, choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }
        response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
      })
    }).listen(0)
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const stream = new Agent({ model: `openai-compatible:gpt-4o@http://127.0.0.1:${port}/v1` }).stream('go')
    const { metrics } = await stream.result
    server.close()
    expect(bodies).toMatchObject([{ stream: true, stream_options: { include_usage: true } }])
    expect(metrics).toMatchObject({ cost: null, promptTokens: 0 })
    expect(metrics.estimatedTokens).toBeGreaterThan(0)
  })
})

describe('a budget that cannot cover the next turn', () => {
  const first = { ...proposing('a'), promptTokens: 900, completionTokens: 10 }

  test('in tokens stops the run before it is asked', async () => {
    const model = answering(first)
    const result = await agentOn(model, { budget: { tokens: 1_000 } }).run('go')
    expect(result.reason).toBe(
      'the budget of 1000 tokens does not cover the next turn (910 used, and it would send at least 900)',
    )
    expect(result.status).toBe('failed')
    expect(model.questions).toHaveLength(1)
  })

  test('in dollars stops the run before it is asked, the budget of the run above too', async () => {
    const model = watched(() => first, 'gpt-4o')
    const child = agentOn(model)
    const tools = [agentTool(child, { name: 'child', description: 'Works.' })]
    const parent = watched(
      (number) => (number === 1 ? proposing(['child', { prompt: 'x' }]) : saying('x')),
      'gpt-4o',
    )
    await new Agent({ model: parent, tools, budget: { dollars: 0.004 } }).run('go')
    expect(model.questions).toHaveLength(1)
  })

  test('leaves only what is left after sending for the answer', async () => {
    const model = answering(first, saying('x'))
    await agentOn(model, { budget: { tokens: 2_000 } }).run('go')
    expect(model.questions.map(({ options }) => options.maxOutputTokens)).toEqual([2_000, 190])
  })
})
