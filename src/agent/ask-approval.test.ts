import { describe, expect, it } from 'vitest'
import { Playbook } from '../playbook/playbook.ts'
import { tool } from '../tool/tool.ts'
import { Agent } from './agent.ts'
import type { AgentOptions } from './agent-options.ts'
import { scriptedModel } from './scripted-model.ts'

const playbook = new Playbook({
  id: 'p',
  name: 'P',
  steps: [
    { id: 'look', description: 'Look', expectedTools: ['look'] },
    { id: 'pay', description: 'Pay', expectedTools: ['pay'] },
  ],
})

function agentWith(onApproval: AgentOptions['onApproval'], turns: readonly string[][]) {
  const ran: unknown[] = []
  const tools = [
    tool({ name: 'look', description: 'Looks', risk: 'read', execute: () => 'ok' }),
    tool({ name: 'pay', description: 'Pays', execute: (args) => ran.push(args) }),
  ]
  const model = scriptedModel({
    turns: [
      ...turns.map((names) => ({ calls: names.map((name) => ({ tool: name, arguments: { amount: 30 } })) })),
      { text: 'Done.' },
      { text: 'Done.' },
      { text: 'Done.' },
    ],
  })
  return {
    ran,
    agent: new Agent({
      model,
      tools,
      playbook,
      offer: 'all',
      ...(onApproval === undefined ? {} : { onApproval }),
    }),
  }
}

describe('onApproval', () => {
  it('is asked before an irreversible call, with exactly what is then made, and its yes is on record', async () => {
    const asked: unknown[] = []
    const { ran, agent } = agentWith(
      (request) => {
        asked.push([request.tool, request.arguments, request.step?.id])
        expect(() => Object.assign(request.arguments, { amount: 3000 })).toThrow()
        return true
      },
      [['look'], ['pay']],
    )
    const result = await agent.run('Go.')
    expect(asked).toEqual([['pay', { amount: 30 }, 'pay']])
    expect(ran).toEqual([{ amount: 30 }])
    expect(result.status).toBe('succeeded')
    expect(result.snapshot.entries.find(({ type }) => type === 'approval.decided')?.data).toMatchObject({
      approved: true,
      tool: 'pay',
    })
  })

  it('is not asked about a call that the gate refuses, nor about one that only reads', async () => {
    let asked = 0
    const { ran, agent } = agentWith(() => ++asked > 0, [['pay'], ['look']])
    await agent.run('Go.')
    expect(asked).toBe(0)
    expect(ran).toEqual([])
  })

  it.each<[string, AgentOptions['onApproval']]>([
    ['a no', () => false],
    ['a no with a reason', () => ({ approved: false, reason: 'too much' })],
    ['a throw', () => Promise.reject(new Error('nobody there'))],
    ['an answer that is neither', () => 'yes' as never],
  ])('vetoes the call for %s, and the run does not succeed', async (_, onApproval) => {
    const { ran, agent } = agentWith(onApproval, [['look'], ['pay']])
    const result = await agent.run('Go.')
    expect(ran).toEqual([])
    expect(result.violations.map(({ violationType }) => violationType)).toEqual(['vetoed'])
    expect(result.violations[0]!.message).toContain('not approved')
    expect(result.status).not.toBe('succeeded')
  })

  it('does not let an approved call through that has become illegal meanwhile', async () => {
    const stop = new AbortController()
    const { ran, agent } = agentWith(() => {
      stop.abort()
      return true
    }, [['look'], ['pay']])
    const result = await agent.run('Go.', { signal: stop.signal })
    expect(ran).toEqual([])
    expect(result.status).toBe('cancelled')
  })
})
