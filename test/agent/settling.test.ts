import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentSnapshot } from '../../src/agent/agent-options.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { enforce, step } from '../gate/enforce.ts'
import { answering, noting, playbookOf, proposing, saying } from './run-agent.ts'

const playbook = playbookOf([step('pay')])

/** A run that was cut off while its payment was in flight. */
async function inFlight(): Promise<AgentSnapshot> {
  const model = answering(proposing('pay'), saying('Done.'))
  const { run, snapshot } = await new Agent({ model, tools: [noting([], 'pay')], playbook }).run('go')
  const cut = snapshot.entries.findIndex(({ type }) => type === 'tool.admitted') + 1
  return { run, entries: snapshot.entries.slice(0, cut) }
}

const unclear: readonly unknown[] = [
  'failed',
  'succeeded',
  {},
  { outcom: 'failed' },
  { status: 'failed' },
  { result: { paid: 1 } },
  { error: 'boom' },
  { outcome: 'Failed' },
  { outcome: 'succeeded', by: 'me' },
  ['failed'],
  false,
  5,
  null,
]

describe('settling a call that was in flight', () => {
  test.each(unclear)('is refused where it is not said how it ended: %j', async (said) => {
    const snapshot = await inFlight()
    const journal = new MemoryJournal()
    const agent = new Agent({ model: answering(saying('x')), tools: [noting([], 'pay')], playbook, journal })
    const settle = { '1.c1': said } as never
    await expect(agent.resume(snapshot, { settle })).rejects.toMatchObject({
      code: 'invalid_value',
      hint: expect.stringContaining('succeeded, failed, unknown, not_executed'),
    })
    expect(await journal.read(snapshot.run)).toHaveLength(snapshot.entries.length)
  })

  test('leaves every call open where one of several is not said clearly', async () => {
    const tools = ['a', 'b'].map((name) => noting([], name, 'write', () => Promise.reject(new Error('cut'))))
    const journal = new MemoryJournal()
    const agent = new Agent({
      model: answering(proposing('a'), proposing('b'), saying('x')),
      tools,
      journal,
      maxIdleTurns: 9,
    })
    const { run, snapshot } = await agent.run('go')
    const settle = { '1.c1': { outcome: 'succeeded' }, '2.c1': 'failed' } as never
    await expect(agent.resume(run, { settle })).rejects.toMatchObject({ code: 'invalid_value' })
    expect(await journal.read(run)).toHaveLength(snapshot.entries.length)
  })
})

describe('recordToolCall', () => {
  test.each(
    unclear.filter((said) => JSON.stringify(said) !== '{}' && !JSON.stringify(said).includes('result')),
  )('takes nothing for a success that does not say so: %j', (said) => {
    const enforcer = enforce([step('a')])
    enforcer.validateToolCall('a', { callId: 'c1' })
    const given =
      typeof said === 'object' && said !== null && !Array.isArray(said) ? { callId: 'c1', ...said } : said
    expect(() => enforcer.recordToolCall('a', given as never)).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
    expect(enforcer.isComplete).toBe(false)
    expect(enforcer.gate.state.byCallId.get('c1')?.state).toBe('admitted')
  })

  test('takes an error with its outcome', () => {
    const enforcer = enforce([step('a')])
    enforcer.validateToolCall('a', { callId: 'c1' })
    enforcer.recordToolCall('a', { callId: 'c1', outcome: 'failed', error: 'boom' })
    expect(enforcer.gate.state.byCallId.get('c1')).toMatchObject({ state: 'failed', error: 'boom' })
  })
})
