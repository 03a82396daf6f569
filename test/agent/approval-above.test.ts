import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { agentTool } from '../../src/agent/agent-tool.ts'
import type { ApprovalRequest } from '../../src/agent/ask-approval.ts'
import { tool } from '../../src/tool/tool.ts'
import { answering, noting, proposing, saying, type Log } from './run-agent.ts'

/** An agent that pays, and what it did. */
function payer(log: Log): Agent {
  return new Agent({
    model: answering(proposing(['refund', { order: 'A' }]), saying('Paid.')),
    tools: [noting(log, 'refund', 'irreversible')],
  })
}

/** Approves everything but the payment, and notes what it was asked. */
function cautious(asked: ApprovalRequest[]) {
  return (request: ApprovalRequest) => {
    asked.push(request)
    return request.tool !== 'refund'
  }
}

describe('whoever approves for a run', () => {
  test('is asked about the calls of an agent below, and its no keeps them from being made (L4)', async () => {
    const log: Log = []
    const asked: ApprovalRequest[] = []
    const parent = new Agent({
      model: answering(proposing(['helper', { prompt: 'Pay.' }]), saying('Done.')),
      tools: [agentTool(payer(log), { name: 'helper', description: 'Helps.' })],
      onApproval: cautious(asked),
    })
    const result = await parent.run('go')
    expect(log).toEqual([])
    expect(asked.map((each) => [each.run, each.tool, each.callId, each.arguments])).toEqual([
      [result.run, 'helper', '1.c1', { prompt: 'Pay.' }],
      [result.run, 'refund', '1.c1/1.c1', { order: 'A' }],
    ])
    const decided = result.snapshot.entries.filter(({ type }) => type === 'approval.decided')
    expect(decided.map(({ data }) => [data['tool'], data['approved']])).toEqual([
      ['helper', true],
      ['refund', false],
    ])
  })

  test('is asked where the code of a tool that only reads runs an agent by hand', async () => {
    const log: Log = []
    const asked: ApprovalRequest[] = []
    const look = tool({
      name: 'look',
      description: 'Looks.',
      risk: 'read',
      execute: async () => (await payer(log).run('go')).message,
    })
    const model = answering(proposing('look'), saying('Done.'))
    await new Agent({ model, tools: [look], onApproval: cautious(asked) }).run('go')
    expect(asked.map((each) => each.tool)).toEqual(['refund'])
    expect(log).toEqual([])
  })

  test('is asked two runs above as well, and the call is made once everybody has said yes', async () => {
    const log: Log = []
    const asked: string[] = []
    const yes = (who: string) => (request: ApprovalRequest) => asked.push(`${who} ${request.tool}`) > 0
    const middle = new Agent({
      model: answering(proposing(['payer', { prompt: 'Pay.' }]), saying('Done.')),
      tools: [agentTool(payer(log), { name: 'payer', description: 'Pays.' })],
      onApproval: yes('middle'),
    })
    const top = new Agent({
      model: answering(proposing(['middle', { prompt: 'Pay.' }]), saying('Done.')),
      tools: [agentTool(middle, { name: 'middle', description: 'Has it paid.' })],
      onApproval: yes('top'),
    })
    expect((await top.run('go')).status).toBe('succeeded')
    expect(asked).toEqual(['top middle', 'middle payer', 'top payer', 'middle refund', 'top refund'])
    expect(log).toEqual(['refund'])
  })
})
