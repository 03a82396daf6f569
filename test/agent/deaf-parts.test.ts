import type { LanguageModelV4 } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { agentTool } from '../../src/agent/agent-tool.ts'
import type { AgentHook } from '../../src/agent/hook.ts'
import { Interruption } from '../../src/agent/interruption.ts'
import { answering, noting, proposing, saying, type Log } from './run-agent.ts'

const never = () => new Promise<never>(() => undefined)

/** A run with a part that never answers, cancelled (or put down) once that part was asked. */
async function cancelled(options: (asked: () => Promise<never>) => Partial<AgentOptions>, reason?: unknown) {
  const log: Log = []
  const controller = new AbortController()
  const asked = () => {
    setTimeout(() => controller.abort(reason), 5)
    return never()
  }
  const agent = new Agent({
    model: answering(proposing('pay'), saying('Done.')),
    tools: [noting(log, 'pay', 'irreversible')],
    ...options(asked),
  })
  const result = await agent.run('go', { signal: controller.signal })
  return { log, result }
}

const hooks = ['beforeModelCall', 'afterModelCall', 'beforeToolCall', 'afterToolCall'] as const

describe('a run that is cancelled', () => {
  test.each(hooks)('does not wait for a hook that never answers: %s', async (name) => {
    const { log, result } = await cancelled((asked) => ({ hooks: [{ [name]: asked } as AgentHook] }))
    expect(result).toMatchObject({ status: 'cancelled', reason: 'the run was cancelled' })
    expect(log).toEqual(name === 'afterToolCall' ? ['pay'] : [])
  })

  test('does not wait for whoever approves, and nobody is on record as having decided', async () => {
    const { log, result } = await cancelled((asked) => ({ onApproval: asked }))
    expect(result.status).toBe('cancelled')
    expect(log).toEqual([])
    expect(result.snapshot.entries.map(({ type }) => type)).not.toContain('approval.decided')
  })

  test('does not wait for whoever approves above', async () => {
    const { log, result } = await cancelled((asked) => {
      const child = new Agent({
        model: answering(proposing('pay'), saying('x')),
        tools: [noting([], 'pay', 'irreversible')],
      })
      return {
        model: answering(proposing(['child', { prompt: 'x' }]), saying('x')),
        tools: [agentTool(child, { name: 'child', description: 'Works.' })],
        onApproval: ({ tool }) => (tool === 'child' ? true : asked()),
      }
    })
    expect(result.status).toBe('cancelled')
    expect(log).toEqual([])
  })

  test.each(['run', 'stream'] as const)('does not wait for a model that does not listen: %s', async (way) => {
    const controller = new AbortController()
    const asked = () => {
      setTimeout(() => controller.abort(), 5)
      return never()
    }
    const model: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: 'test',
      modelId: 'deaf',
      supportedUrls: {},
      doGenerate: asked,
      doStream: asked,
    }
    const { signal } = controller
    const agent = new Agent({ model })
    const result = await (way === 'run' ? agent.run('go', { signal }) : agent.stream('go', { signal }).result)
    expect(result.status).toBe('cancelled')
  })

  test.each(hooks)('tells its hooks by their signal: %s', async (name) => {
    let signal: AbortSignal | undefined
    const hook = {
      [name]: (given: { readonly signal: AbortSignal }) => void (signal = given.signal),
    } as AgentHook
    const controller = new AbortController()
    const model = answering(proposing('pay'), saying('Done.'))
    await new Agent({ model, tools: [noting([], 'pay')], hooks: [hook] }).run('go', {
      signal: controller.signal,
    })
    expect(signal?.aborted).toBe(false)
    controller.abort()
    expect(signal?.aborted).toBe(true)
  })
})

describe('a run that is put down while somebody is asked', () => {
  test.each(['beforeToolCall', 'onApproval'] as const)('can be taken up, and goes on: %s', async (name) => {
    const down = new Interruption()
    const { result } = await cancelled(
      (asked) => (name === 'onApproval' ? { onApproval: asked } : { hooks: [{ beforeToolCall: asked }] }),
      down,
    )
    expect(result).toMatchObject({ status: 'incomplete', violations: [] })
    const log: Log = []
    const model = answering(proposing('pay'), saying('Done.'))
    const again = new Agent({ model, tools: [noting(log, 'pay', 'irreversible')] })
    expect((await again.resume(result.snapshot)).status).toBe('succeeded')
    expect(log).toEqual(['pay'])
  })

  test('loses no result to a hook that is nearly done', async () => {
    const controller = new AbortController()
    const redact: AgentHook = {
      afterToolCall: async () => {
        controller.abort(new Interruption())
        await new Promise((resolve) => setTimeout(resolve, 20))
        return { result: 'redacted' }
      },
    }
    const model = answering(proposing('pay'), saying('Done.'))
    const agent = new Agent({ model, tools: [noting([], 'pay')], hooks: [redact] })
    const { snapshot } = await agent.run('go', { signal: controller.signal })
    const returned = snapshot.entries.find(({ type }) => type === 'tool.returned')
    expect(returned?.data).toMatchObject({ output: { value: 'redacted' } })
  })
})

describe('a hook that denies without a word', () => {
  test.each(['beforeModelCall', 'afterModelCall', 'beforeToolCall'] as const)(
    'is named in the reason: %s',
    async (name) => {
      const model = answering(proposing('pay'), saying('Done.'))
      const hook = { name: 'limit', [name]: () => ({ deny: '' }) } as AgentHook
      const result = await new Agent({ model, tools: [noting([], 'pay')], hooks: [hook] }).run('go')
      expect(`${result.reason} ${result.violations[0]?.message}`).toContain(
        'limit denied it without a reason',
      )
    },
  )
})
