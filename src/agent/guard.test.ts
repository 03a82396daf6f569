import { generateText, jsonSchema, streamText, type ToolSet } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { Playbook } from '../playbook/playbook.ts'
import { guard } from './guard.ts'
import { scriptedModel, type ScriptedTurn } from './scripted-model.ts'

const playbook = new Playbook({
  id: 'refund',
  name: 'Refund',
  steps: [
    { id: 'verify', description: 'Look the order up.', expectedTools: ['lookup'] },
    { id: 'pay', description: 'Pay it back.', expectedTools: ['refund'] },
    { id: 'sum', description: 'Sum up.', required: false },
  ],
  rules: [{ tool: 'refund', require: 'succeeded("lookup", id=args.id) and count("refund") == 0' }],
})

function shop() {
  const done: string[] = []
  const input = z.object({ id: z.string() })
  const tools = {
    lookup: {
      description: 'Looks up',
      inputSchema: input,
      execute: ({ id }: { id: string }) => done.push(`lookup ${id}`),
    },
    refund: {
      description: 'Pays',
      inputSchema: input,
      execute: async ({ id }: { id: string }) => done.push(`refund ${id}`),
    },
  } satisfies ToolSet
  return { done, tools }
}

const call = (tool: string, id = 'A', callId?: string) => ({
  tool,
  arguments: { id },
  ...(callId === undefined ? {} : { id: callId }),
})
const work = (turns: readonly ScriptedTurn[]) => scriptedModel({ turns })

describe('guard', () => {
  it("holds the AI SDK's own loop to a playbook", async () => {
    const { done, tools } = shop()
    const held = guard(playbook, tools)
    const result = await generateText({
      model: work([
        {
          calls: [call('lookup')],
          expect: { tools: ['lookup', 'fail_step'], contains: ['step 1 of 3, verify'] },
        },
        { calls: [call('refund')], expect: { tools: ['refund', 'fail_step'] } },
        { text: 'Done.', expect: { contains: ['step 3 of 3, sum'] } },
      ]),
      instructions: 'You are a clerk.',
      prompt: 'Refund A.',
      ...held,
    })
    expect(done).toEqual(['lookup A', 'refund A'])
    expect(held.finish(result.text)).toMatchObject({ accepted: true, status: 'succeeded' })
    expect(held.summary()).toBe('denied 0 of 2 calls')
  })

  it('G5: runs the calls of a turn in order, and after a refusal none that writes', async () => {
    const { done, tools } = shop()
    const held = guard(playbook, tools, { offer: 'all' })
    const result = await generateText({
      model: work([
        { calls: [call('lookup', 'A', '1'), call('refund', 'B', '2'), call('refund', 'A', '3')] },
      ]),
      prompt: 'Refund A.',
      ...held,
      stopWhen: [...held.stopWhen, ({ steps }) => steps.length >= 1],
    })
    expect(done).toEqual(['lookup A'])
    const errors = result.steps[0]!.content.filter((part) => part.type === 'tool-error').map((part) =>
      String(part.error),
    )
    expect(errors[0]).toContain('"code":"rule"')
    expect(errors[1]).toContain('not_executed')
    expect(held.violations.map(({ violationType }) => violationType)).toEqual(['rule'])
  })

  it('G9: leaves the model no way to stop at a text while required steps are open', async () => {
    const { tools } = shop()
    const held = guard(playbook, tools)
    const choices: unknown[] = []
    const model = work([{ calls: [call('lookup')] }, { calls: [call('refund')] }, { text: 'Done.' }])
    const generate = model.doGenerate.bind(model)
    model.doGenerate = (options) => {
      choices.push(options.toolChoice?.type)
      return generate(options)
    }
    await generateText({ model, prompt: 'Refund A.', ...held })
    expect(choices).toEqual(['required', 'required', 'auto'])
  })

  it('G13: only observes where it is asked to, and says what it would have denied', async () => {
    const { done, tools } = shop()
    const held = guard(playbook, tools, { mode: 'observe' })
    await generateText({
      model: work([{ calls: [call('refund', 'A', '1'), call('lookup', 'A', '2')] }, { text: 'Done.' }]),
      prompt: 'Refund A.',
      ...held,
      stopWhen: ({ steps }) => steps.length >= 2,
    })
    expect(done).toEqual(['refund A', 'lookup A'])
    expect(held.summary()).toMatch(/^would have denied 1 of 2 calls\n {2}out_of_sequence: /)
  })

  it('refuses a playbook with calls, because nobody would make them', () => {
    const runbook = definePlaybook({ id: 'r', name: 'R', steps: [{ id: 'cordon', tool: 'lookup' }] })
    expect(() => guard(runbook, shop().tools)).toThrow("Step 'cordon' is a call, and guard makes none")
  })

  it('names the nearest tool when the playbook needs one that is not there', () => {
    const { lookup, refund } = shop().tools
    expect(() => guard(playbook, { lokup: lookup, refund })).toThrow(
      expect.objectContaining({
        code: 'unknown_tool',
        hint: "Did you mean 'lokup' instead of 'lookup'?",
      }),
    )
  })

  it('stops the loop when a required step was given up', async () => {
    const { tools } = shop()
    const held = guard(playbook, tools)
    const result = await generateText({
      model: work([
        { calls: [{ tool: 'fail_step', arguments: { error: 'no such order' } }] },
        { text: 'never asked' },
      ]),
      prompt: 'Refund A.',
      ...held,
    })
    expect(result.steps).toHaveLength(1)
    expect(held.finish('x')).toMatchObject({ accepted: false, status: 'failed' })
  })

  it('works with a stream', async () => {
    const { done, tools } = shop()
    const stream = streamText({
      model: work([{ calls: [call('lookup')] }, { calls: [call('refund')] }, { text: 'All done.' }]),
      prompt: 'Refund A.',
      ...guard(playbook, tools),
    })
    expect(await stream.text).toBe('All done.')
    expect(done).toEqual(['lookup A', 'refund A'])
  })

  it('refuses tools that would run elsewhere, are missing, or take a reserved name', () => {
    const { tools } = shop()
    const elsewhere = {
      ...tools,
      search: { type: 'provider', id: 'x.search', args: {}, isProviderExecuted: true },
    } as never as ToolSet
    expect(() => guard(playbook, elsewhere)).toThrow(/'search' would not run here/)
    const client = { ...tools, ask: { inputSchema: jsonSchema({ type: 'object' }) } } as ToolSet
    expect(() => guard(playbook, client)).toThrow(/'ask' would not run here/)
    expect(() => guard(playbook, { lookup: tools.lookup })).toThrow(/refund/)
    expect(() => guard(playbook, { ...tools, skip_step: tools.lookup })).toThrow(/skip_step/)
  })

  it('gives the loop only what it knows: the run itself is beside it', () => {
    const held = guard(playbook, shop().tools)
    expect(Object.keys(held).sort()).toEqual(['prepareStep', 'stopWhen', 'toolCallConcurrency', 'tools'])
    expect(held.enforcer.currentStep?.id).toBe('verify')
  })
})
