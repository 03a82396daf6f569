import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentEvent } from '../../src/agent/agent-event.ts'
import { createDemoDesk } from '../../src/cli/demo-desk.ts'
import { loadPlaybook } from '../../src/source/load-playbook.ts'
import { tool } from '../../src/tool/tool.ts'
import { playbookOf, step } from './run-agent.ts'
import { startModelServer, type Fault, type ServedTurn } from './model-server.ts'

const playbook = await loadPlaybook(new URL('../../examples/refund-desk.yaml', import.meta.url).pathname)

const refund = { tool: 'refund', arguments: { order_id: 'ORD-42', customer_id: 'C-7', amount: 30 } }

/** The refund, with one call too early. */
const conversation: readonly ServedTurn[] = [
  { text: 'I will pay at once.', calls: [refund] },
  { calls: [{ tool: 'lookup_customer', arguments: { customer_id: 'C-7' } }] },
  { calls: [{ tool: 'lookup_order', arguments: { order_id: 'ORD-42' } }] },
  { text: 'Now I may pay.', calls: [refund] },
  { calls: [{ tool: 'notify_customer', arguments: { customer_id: 'C-7', message: 'Paid.' } }] },
  { text: 'Refunded 30 to Ada Moreno.' },
]

const models = ['openai:gpt-4o', 'anthropic:claude-sonnet-4-5', 'openai-compatible:llama'] as const

let server: Awaited<ReturnType<typeof startModelServer>>

async function serve(turns: readonly ServedTurn[] = conversation): Promise<void> {
  server = await startModelServer(turns)
  for (const name of ['OPENAI', 'ANTHROPIC', 'OPENAI_COMPATIBLE']) {
    vi.stubEnv(`${name}_BASE_URL`, server.url)
    vi.stubEnv(`${name}_API_KEY`, 'test-key')
  }
}

beforeEach(() => serve())

afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
})

/** The first turn, after these faults. */
function faulty(...faults: Fault[]): Promise<void> {
  return server.close().then(() => serve([{ ...conversation[0]!, faults }, ...conversation.slice(1)]))
}

const soon = { 'retry-after-ms': '1' }

describe.each(models)('%s over HTTP', (model) => {
  test('works through the refund playbook, the early payment refused and the real one made once', async () => {
    const desk = createDemoDesk()
    const result = await new Agent({ model, tools: desk.tools, playbook }).run('Refund ORD-42 for C-7.')
    expect(result).toMatchObject({ status: 'succeeded', message: 'Refunded 30 to Ada Moreno.', reason: null })
    expect(desk.paid).toEqual([{ order: 'ORD-42', amount: 30 }])
    expect(desk.told).toEqual(['C-7'])
    expect(result.violations).toMatchObject([{ violationType: 'out_of_sequence', toolName: 'refund' }])
    expect(result.metrics).toMatchObject({ promptTokens: 600, completionTokens: 120, iterations: 6 })
    expect(result.metrics.cost === null).toBe(model === 'openai-compatible:llama')
    expect(JSON.stringify(server.asked[1])).toContain('out_of_sequence')
  })

  test('does the same as a stream, its text in pieces', async () => {
    const desk = createDemoDesk()
    const stream = new Agent({ model, tools: desk.tools, playbook }).stream('Refund ORD-42 for C-7.')
    const events: AgentEvent[] = []
    for await (const event of stream) events.push(event)
    expect(await stream.result).toMatchObject({ status: 'succeeded', message: 'Refunded 30 to Ada Moreno.' })
    expect(server.asked.every((body) => body['stream'] === true)).toBe(true)
    const text = events.flatMap((event) => (event.type === 'text.delta' ? [event.text] : []))
    expect(text.length).toBeGreaterThan(5)
    expect(text.join('')).toBe('I will pay at once.Now I may pay.Refunded 30 to Ada Moreno.')
    expect(desk.paid).toHaveLength(1)
    expect((await stream.result).metrics).toMatchObject({ promptTokens: 600, completionTokens: 120 })
  })

  test('takes tools with names that the service would not, under other ones', async () => {
    await server.close()
    await serve([{ calls: [{ tool: 'crm__look_up', arguments: {} }] }, { text: 'Done.' }])
    const called: string[] = []
    const look = tool({
      name: 'crm/look.up',
      description: 'Looks.',
      execute: () => called.push('crm/look.up'),
    })
    const book = playbookOf([step('look', { expectedTools: ['crm/look.up'] })])
    const result = await new Agent({ model, tools: [look], playbook: book }).run('go')
    expect(result).toMatchObject({ status: 'succeeded', violations: [] })
    expect(called).toEqual(['crm/look.up'])
    expect(JSON.stringify(server.asked[1])).not.toContain('"name":"crm/look.up"')
    const admitted = result.snapshot.entries.find(({ type }) => type === 'tool.admitted')
    expect(admitted?.data['tool']).toBe('crm/look.up')
  })

  test('goes on after 429 with a wish to wait, and after 500', async () => {
    await faulty({ status: 429, headers: soon }, { status: 500, headers: soon })
    const desk = createDemoDesk()
    const result = await new Agent({ model, tools: desk.tools, playbook }).run('go')
    expect(result.status).toBe('succeeded')
    expect(server.asked).toHaveLength(8)
    expect(desk.paid).toHaveLength(1)
  })

  test('fails with one sentence when the service stays away', async () => {
    const away: Fault = { status: 503, headers: soon, body: 'The engine is overloaded.' }
    await faulty(away, away, away)
    const result = await new Agent({ model, tools: createDemoDesk().tools, playbook }).run('go')
    expect(result.status).toBe('failed')
    expect(result.reason).toMatch(/^the model gave no answer: .*3 attempts.*The engine is overloaded/)
    expect(server.asked).toHaveLength(3)
  })

  test('fails at once when the key is wrong', async () => {
    for (const name of ['OPENAI', 'ANTHROPIC']) vi.stubEnv(`${name}_API_KEY`, 'wrong')
    const result = await new Agent({ model, tools: createDemoDesk().tools, playbook }).run('go')
    if (model === 'openai-compatible:llama') return expect(result.status).toBe('succeeded')
    expect(result).toMatchObject({ status: 'failed', reason: /API key|api-key/ })
    expect(server.asked).toHaveLength(1)
  })

  test.each(['garbage', 'cut', 'cut in the middle', 'ends early'] as const)(
    'an answer that is %s does nothing, whole or as a stream',
    async (fault) => {
      const desk = createDemoDesk()
      const agent = new Agent({ model, tools: desk.tools, playbook, maxRetries: 0, maxIterations: 1 })
      for (const run of [() => agent.run('go'), () => agent.stream('go').result]) {
        await faulty(fault)
        const result = await run()
        expect(result.status).toBe('failed')
        expect(result.reason).toMatch(/^the model gave no answer: .|^the run took 1 turns/)
        expect(result.snapshot.entries.map(({ type }) => type)).not.toContain('tool.admitted')
        expect(result.message).toBe('')
      }
      expect(desk.paid).toEqual([])
    },
  )

  test('an answer that was cut off by its length or held back is no final answer', async () => {
    await server.close()
    await serve([{ text: 'It is all', end: 'length' }, { text: 'It is all done.' }])
    const result = await new Agent({ model }).run('go')
    expect(result).toMatchObject({ status: 'succeeded', message: 'It is all done.' })
    expect(JSON.stringify(server.asked[1])).toContain('Your answer was cut off')
    await server.close()
    await serve([{ text: 'It is', end: 'filter' }])
    const streamed = await new Agent({ model }).stream('go').result
    expect(streamed).toMatchObject({ status: 'failed', reason: /content-filter/ })
  })
})

describe('OpenAI-compatible services', () => {
  test('are found by an address in the name, and need no key', async () => {
    vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', '')
    vi.stubEnv('OPENAI_COMPATIBLE_API_KEY', undefined)
    const model = `openai-compatible:llama3.2:3b@${server.url}`
    const result = await new Agent({ model, tools: createDemoDesk().tools, playbook }).run('go')
    expect(result.status).toBe('succeeded')
    expect(server.asked[0]).toMatchObject({ model: 'llama3.2:3b' })
  })

  test('that write arguments which are no JSON are asked once more', async () => {
    const broken = { tool: 'lookup_customer', arguments: '{"customer_id": "C-7"' }
    await server.close()
    await serve([
      { calls: [broken] },
      { calls: [{ ...broken, arguments: { customer_id: 'C-7' } }] },
      { text: 'Done.' },
    ])
    const result = await new Agent({ model: models[2], tools: createDemoDesk().tools }).run('go')
    expect(result).toMatchObject({ status: 'succeeded', violations: [] })
    expect(server.asked[1]).toMatchObject({ tool_choice: { function: { name: 'lookup_customer' } } })
  })
})

describe('a model that cannot be had', () => {
  const run = (model: string) => new Agent({ model }).run('go')

  test.each([
    ['openai:gpt-4o', 'OPENAI_API_KEY'],
    ['anthropic:claude-sonnet-4-5', 'ANTHROPIC_API_KEY'],
  ])('for want of a key says which: %s', async (model, variable) => {
    vi.stubEnv(variable, undefined)
    await expect(run(model)).rejects.toMatchObject({
      code: 'missing_api_key',
      message: `${model} needs a key, and ${variable} is not set.`,
    })
    expect(server.asked).toEqual([])
  })

  test.each([
    ['opnai:gpt-4o', /Did you mean openai:/],
    ['gpt-4o', /Models are openai:/],
    ['openai:', /Models are openai:/],
    ['', /Models are openai:/],
  ])('for want of a provider says what there is: %j', async (model, hint) => {
    await expect(run(model)).rejects.toMatchObject({
      code: 'unknown_model',
      hint: expect.stringMatching(hint),
    })
  })

  test('for want of an address says how to give one', async () => {
    vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', undefined)
    await expect(run('openai-compatible:llama')).rejects.toMatchObject({
      code: 'unknown_model',
      message: 'openai-compatible:llama needs the address of its server.',
    })
  })

  test('for want of its package says what to install', async () => {
    // In a process of its own, where that package cannot be found.
    const code = `
      import { registerHooks } from 'node:module'
      registerHooks({
        resolve: (name, context, next) => next(name === '@ai-sdk/openai' ? '@ai-sdk/not-there' : name, context),
      })
      const { Agent } = await import(${JSON.stringify(new URL('../../src/agent/agent.ts', import.meta.url).href)})
      await new Agent({ model: 'openai:gpt-4o' }).run('go').catch(({ code, message, hint }) =>
        console.log(JSON.stringify({ code, message, hint })))`
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code])
    expect(JSON.parse(stdout)).toEqual({
      code: 'missing_package',
      message: 'The package @ai-sdk/openai is not installed.',
      hint: 'Install it: npm install @ai-sdk/openai',
    })
  })
})
