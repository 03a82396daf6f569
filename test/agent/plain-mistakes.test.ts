import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import type { AgentHook } from '../../src/agent/hook.ts'
import { guard } from '../../src/agent/guard.ts'
import { answering, noting, playbookOf, saying, step } from './run-agent.ts'

const model = () => answering(saying('x'))
const none = () => undefined

describe('an agent that is made without types', () => {
  test.each<[Readonly<Record<string, unknown>>, RegExp, RegExp?]>([
    [{ playbook: 'refund.yaml' }, /playbook must be a Playbook, not the text 'refund.yaml'/, /loadPlaybook/],
    [{ playbook: {} }, /playbook must be a Playbook/],
    [{ tools: 'x' }, /tools must be a list/],
    [{ tools: {} }, /tools must be a list/],
    [{ hooks: {} }, /hooks must be a list/],
    [{ hooks: [null] }, /A hook is an object, not nothing/],
    [{ hooks: [{}] }, /does nothing/],
    [{ hooks: [{ beforToolCall: none }] }, /no 'beforToolCall'/, /'beforeToolCall'/],
    [{ hooks: [{ onStep: none, afterToolcall: none }] }, /no 'afterToolcall'/, /'afterToolCall'/],
    [{ hooks: [{ beforeToolCall: 'deny' }] }, /must be a function/],
    [{ systemPrompt: 5 }, /systemPrompt must be a text/],
    [{ blockViolations: 'false' }, /blockViolations must be true or false/],
    [{ journal: {} }, /journal must be a journal/],
    [{ prices: { m: { input: -1, output: 2 } } }, /price of m is none/],
    [{ prices: { m: { input: Number.NaN, output: 2 } } }, /price of m is none/],
    [{ prices: { m: { input: 1 } } }, /price of m is none/],
    [{ prices: { m: { input: '1', output: 2 } } }, /price of m is none/],
    [{ prices: { m: { input: 1, output: 2, cached: 1 } } }, /price of m is none/],
    [{ prices: { m: 1 } }, /price of m is none/],
    [{ prices: 3 }, /prices must say/],
  ])('is told at once what is wrong: %j', (options, message, hint = /.*/) => {
    const make = () => new Agent({ model: model(), ...options } as AgentOptions)
    expect(make).toThrow(expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) }))
    expect(make).toThrow(
      hint.source === '.*' ? message : expect.objectContaining({ hint: expect.stringMatching(hint) }),
    )
  })

  test.each([[[{}]], [[null]], [['pay']], [[{ name: 'pay', description: 'Pays.', execute: none }]]])(
    'is told of what is no tool: %j',
    (tools) => {
      const make = () => new Agent({ model: model(), tools: tools as never })
      expect(make).toThrow(expect.objectContaining({ code: 'invalid_tool' }))
    },
  )

  test('may have a hook of a class, with things of its own', async () => {
    class Counting implements AgentHook {
      count = 0
      beforeModelCall() {
        this.add()
      }
      add() {
        this.count++
      }
    }
    const hook = new Counting()
    await new Agent({ model: model(), hooks: [hook] }).run('go')
    expect(hook.count).toBe(1)
  })
})

describe('a run that is begun without types', () => {
  test.each<[unknown, unknown, RegExp, string?]>([
    [undefined, {}, /task of a run is a text, not nothing/],
    [{ prompt: 'x' }, {}, /task of a run is a text/],
    ['go', { singal: 1 }, /A run has no option 'singal'/, "Did you mean 'signal'?"],
    ['go', { signal: 'nope' }, /signal must be an AbortSignal/],
    ['go', null, /options as an object/],
  ])('is refused with what is wrong: %j %j', async (prompt, options, message, hint) => {
    const asked = model()
    const run = new Agent({ model: asked }).run(prompt as string, options as never)
    await expect(run).rejects.toMatchObject({
      code: 'usage',
      message,
      ...(hint === undefined ? {} : { hint }),
    })
    expect(asked.questions).toEqual([])
  })

  test.each<[unknown, RegExp]>([
    [{ setle: {} }, /no option 'setle'/],
    [{ settle: 'x' }, /settle says of calls/],
    [{ retry: 'a' }, /retry is a list/],
  ])('is not resumed with what is wrong: %j', async (options, message) => {
    const agent = new Agent({ model: model() })
    const { snapshot } = await agent.run('go')
    await expect(agent.resume(snapshot, options as never)).rejects.toMatchObject({ code: 'usage', message })
  })
})

describe('guard without types', () => {
  const playbook = playbookOf([step('a')])
  const tools = { a: { ...noting([], 'a'), inputSchema: {} } } as never

  test.each<[Readonly<Record<string, unknown>>, string | null]>([
    [{ mode: 'obsrve' }, "Did you mean 'observe'?"],
    [{ mod: 'observe' }, "Did you mean 'mode'?"],
    [{ offer: 'some' }, null],
    [{ risks: { a: 'raed' } }, "Did you mean 'read'?"],
  ])('refuses an option that would do nothing: %j', (options, hint) => {
    expect(() => guard(playbook, tools, options as never)).toThrow(
      expect.objectContaining({ code: 'usage', hint }),
    )
  })

  test('refuses what is no playbook', () => {
    expect(() => guard('refund.yaml' as never, tools)).toThrow(expect.objectContaining({ code: 'usage' }))
  })
})
