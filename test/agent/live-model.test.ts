import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { createDemoDesk } from '../../src/cli/demo-desk.ts'
import { loadPlaybook } from '../../src/source/load-playbook.ts'

/** Services that cost money are asked only where somebody says so and has a key. */
const services = [
  { model: process.env['LOCKSTEP_LIVE_OPENAI'] ?? 'openai:gpt-4o-mini', key: 'OPENAI_API_KEY' },
  { model: process.env['LOCKSTEP_LIVE_ANTHROPIC'] ?? 'anthropic:claude-haiku-4-5', key: 'ANTHROPIC_API_KEY' },
]

describe.each(services)('$model, the real service', ({ model, key }) => {
  test.for(['whole', 'as a stream'])(
    'works through the refund playbook and pays once, asked %s',
    { timeout: 180_000 },
    async (way, { skip }) => {
      if (process.env['LOCKSTEP_LIVE'] !== '1') skip('LOCKSTEP_LIVE is not 1: no real model is asked')
      if ((process.env[key] ?? '') === '') skip(`${key} is not set`)
      const desk = createDemoDesk()
      const playbook = loadPlaybook(new URL('../../examples/refund-desk.yaml', import.meta.url).pathname)
      const agent = new Agent({
        model,
        tools: desk.tools,
        playbook,
        maxIterations: 20,
        budget: { tokens: 100_000 },
      })
      const task = 'Customer C-7 wants the money for order ORD-42 back: 30. Refund it and tell the customer.'
      const result = await (way === 'whole' ? agent.run(task) : agent.stream(task).result)
      // Whatever the model tries on its way, the gate lets through what the procedure says and nothing else.
      expect(result).toMatchObject({ status: 'succeeded', reason: null })
      expect(desk.paid).toEqual([{ order: 'ORD-42', amount: 30 }])
      expect(desk.told).toEqual(['C-7'])
      expect(result.metrics.promptTokens).toBeGreaterThan(0)
      expect(result.metrics.completionTokens).toBeGreaterThan(0)
    },
  )
})
