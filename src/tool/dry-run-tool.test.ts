import { describe, expect, it } from 'vitest'
import { dryRunTool, isDryRunResult } from './dry-run-tool.ts'
import { isTool } from './is-tool.ts'
import { ToolFailure } from './tool-failure.ts'
import { type ToolDefinition, tool } from './tool.ts'

const context = { signal: new AbortController().signal, idempotencyKey: 'k' }

function make(definition: Partial<ToolDefinition> = {}) {
  const calls: unknown[] = []
  const execute = (args: unknown) => calls.push(args)
  return { calls, made: tool({ name: 't', description: 'd', execute, ...definition }) }
}

describe('dryRunTool', () => {
  it('shows the final arguments and calls nothing', async () => {
    const { calls, made } = make({ reconcile: () => ({ outcome: 'succeeded' }) })
    const dry = dryRunTool(made, { callReads: true })
    const result = await dry.execute({ a: 1 }, context)
    expect(isDryRunResult(result)).toBe(true)
    expect(result).toMatchObject({ dry_run: true, would: { tool: 't', arguments: { a: 1 } } })
    expect([calls, dry.reconcile]).toEqual([[], null])
  })

  it('lets the tool say what it would do', async () => {
    const { made } = make({ dryRun: ({ a }) => ({ request: `DELETE /${String(a)}` }) })
    expect(await dryRunTool(made, { callReads: false }).execute({ a: 1 }, context)).toMatchObject({
      would: { request: 'DELETE /1' },
    })
  })

  it('states that nothing was applied where the tool cannot say what it would do', async () => {
    const { made } = make({ dryRun: () => Promise.reject(new Error('cut')), idempotent: true })
    const dry = dryRunTool(made, { callReads: false })
    await expect(dry.execute({}, context)).rejects.toThrow(ToolFailure)
    expect([dry.idempotent, dry.cancel]).toEqual([false, null])
  })

  it('takes a placeholder for what only a made call could tell, and nothing else, in an argument of another type', () => {
    const input = {
      type: 'object',
      properties: { amount: { type: 'number' }, list: { type: 'array', items: { type: 'number' } } },
      required: ['amount'],
    } as const
    const { made } = make({ input })
    const dry = dryRunTool(made, { callReads: false })
    const total = '{steps.order.output.total - steps.order.output.refunded}'
    expect(made.checkArguments({ amount: total })).toHaveLength(1)
    expect(dry.checkArguments({ amount: total, list: ['{item.id}'] })).toEqual([])
    expect(dry.checkArguments({ amount: '12', list: ['{item.id}'] })).toHaveLength(1)
    expect(dry.checkArguments({ list: [total] })).toHaveLength(1)
  })

  it('calls what only reads if it is told to', async () => {
    const { calls, made } = make({ risk: 'read' })
    await dryRunTool(made, { callReads: false }).execute({}, context)
    expect(calls).toEqual([])
    await dryRunTool(made, { callReads: true }).execute({}, context)
    expect(calls).toEqual([{}])
  })
})

describe('isTool', () => {
  it('knows what tool() made from what looks like it', () => {
    expect(isTool(make().made)).toBe(true)
    for (const other of [null, 'tool', {}, { ...make().made }, () => make().made])
      expect(isTool(other)).toBe(false)
  })
})
