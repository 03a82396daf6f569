import { describe, expect, it } from 'vitest'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { PlaybookEnforcer } from './playbook-enforcer.ts'
import { giveUp, withLimits } from './run-tool.ts'
import { tool, type ToolDefinition } from './tool.ts'

const never = () => new Promise(() => undefined)

function make(definition: Partial<ToolDefinition>) {
  return tool({ name: 'pay', description: 'Pays', execute: never, ...definition })
}

describe('withLimits', () => {
  it('begins no work for somebody who has given up already', async () => {
    let begun = false
    const limits = { seconds: null, signal: AbortSignal.abort() }
    await expect(withLimits(limits, () => (begun = true))).rejects.toThrow('cancelled before it began')
    expect(begun).toBe(false)
  })

  it('tells the work when its time is over, and does not wait for it', async () => {
    let told: AbortSignal | undefined
    const work = (signal: AbortSignal) => {
      told = signal
      return never()
    }
    await expect(withLimits({ seconds: 0.02, signal: undefined }, work)).rejects.toThrow('longer than 0.02 s')
    expect(told?.aborted).toBe(true)
  })
})

describe('giveUp', () => {
  it('tells a tool by its key that nobody waits for a call any more, before it asks what became of it', async () => {
    const told: string[] = []
    const pay = make({
      timeoutSeconds: 0.02,
      cancel: (key) => told.push(`cancel ${key}`),
      reconcile: (key) => {
        told.push(`reconcile ${key}`)
        return { outcome: 'failed', note: 'stopped in time' }
      },
    })
    const steps = [{ id: 'pay', description: 'Pay', expectedTools: ['pay'] }]
    const playbook = definePlaybook({ id: 'p', name: 'P', description: 'd', steps })
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, { tools: [pay], run: 'r' })
    expect(await enforcer.call('pay', {})).toMatchObject({
      status: 'failed',
      error: 'it took longer than 0.02 s',
      found: { how: 'reconciled', note: 'stopped in time' },
    })
    expect(told).toEqual(['cancel r/call-1', 'reconcile r/call-1'])
  })

  it('minds neither a tool that throws nor one that rejects', () => {
    const thrown = () => {
      throw new Error('no')
    }
    giveUp(make({ cancel: thrown }), 'k')
    giveUp(make({ cancel: () => Promise.reject(new Error('no')) }), 'k')
    giveUp(null, 'k')
  })
})
