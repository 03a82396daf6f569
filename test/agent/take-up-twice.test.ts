import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentEvent } from '../../src/agent/agent-event.ts'
import type { AgentSnapshot } from '../../src/agent/agent-options.ts'
import { agentTool } from '../../src/agent/agent-tool.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { answering, noting, notingAll, playbookOf, proposing, saying, step } from './run-agent.ts'

const playbook = playbookOf([step('pay', { expectedTools: ['pay'] })])

/** A run whose model has asked for a payment that nobody has judged yet. */
async function interrupted(run: string): Promise<AgentSnapshot> {
  const journal = new MemoryJournal()
  const agent = new Agent({
    model: answering(proposing('pay'), saying('Done.')),
    tools: [noting([], 'pay')],
    playbook,
    journal,
  })
  await agent.run('go', { run })
  const entries = await journal.read(run)
  const end = entries.findIndex(({ type }) => type === 'model.answered')
  return { run, entries: entries.slice(0, end + 1) }
}

describe('a run that is taken up', () => {
  test('twice at the same time pays once, without any journal', async () => {
    const snapshot = await interrupted('r1')
    const paid: string[] = []
    const agent = () =>
      new Agent({ model: answering(saying('Paid.')), tools: [noting(paid, 'pay')], playbook })
    const [first, second] = await Promise.allSettled([agent().resume(snapshot), agent().resume(snapshot)])
    expect(first).toMatchObject({ status: 'fulfilled', value: { status: 'succeeded' } })
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'run_in_progress' } })
    expect(paid).toEqual(['pay'])
  })

  test('again after it has gone on is refused, and pays once, without any journal (N2)', async () => {
    const snapshot = await interrupted('r3')
    const paid: string[] = []
    const agent = () =>
      new Agent({ model: answering(saying('Paid.')), tools: [noting(paid, 'pay')], playbook })
    const result = await agent().resume(snapshot)
    expect(result.status).toBe('succeeded')
    await expect(agent().resume(structuredClone(snapshot))).rejects.toMatchObject({
      code: 'journal_conflict',
    })
    expect(paid).toEqual(['pay'])
    // What the first one returned is where the run is now.
    expect((await agent().resume(result.snapshot)).status).toBe('succeeded')
  })

  test('again where nothing was done the first time is taken up', async () => {
    const broken = noting([], 'pay', 'write', () => Promise.reject(new Error('cut')))
    const agent = new Agent({ model: answering(proposing('pay'), saying('x')), tools: [broken], playbook })
    const { snapshot } = await agent.run('go')
    await expect(agent.resume(snapshot, { settle: { no: { outcome: 'failed' } } })).rejects.toThrow(
      'no open call',
    )
    const settle = { '1.c1': { outcome: 'succeeded' as const } }
    expect((await agent.resume(snapshot, { settle })).status).toBe('succeeded')
  })

  test('is not while its first run is still at work', async () => {
    const { log, tools } = notingAll('pay')
    const agent = new Agent({ model: answering(proposing('pay'), saying('Done.')), tools, playbook })
    const snapshot = await interrupted('r2')
    const stream = agent.stream('go', { run: 'r2' })
    for await (const { type } of stream) {
      if (type !== 'model.asked') continue
      await expect(agent.resume(snapshot)).rejects.toMatchObject({ code: 'run_in_progress' })
      break
    }
    expect((await stream.result).status).toBe('succeeded')
    expect(log).toEqual(['pay'])
  })

  test('can be streamed from there on', async () => {
    const snapshot = await interrupted('r4')
    const { log, tools } = notingAll('pay')
    const agent = new Agent({ model: answering(saying('It is paid.')), tools, playbook })
    const stream = agent.resumeStream(snapshot)
    const events: AgentEvent[] = []
    for await (const event of stream) events.push(event)
    expect(events.map(({ type }) => type)).toEqual([
      'tool.admitted',
      'tool.settled',
      'step.completed',
      'tool.returned',
      'iteration.started',
      'model.asked',
      'text.delta',
      'text.delta',
      'text.delta',
      'model.answered',
      'run.finished',
    ])
    expect(await stream.result).toMatchObject({ status: 'succeeded', message: 'It is paid.' })
    expect(log).toEqual(['pay'])
  })

  test('ends its stream where it cannot be', async () => {
    const stream = new Agent({ model: answering(saying('x')) }).resumeStream('never')
    for await (const event of stream) throw new Error(`there is no ${event.type}`)
    await expect(stream.result).rejects.toMatchObject({ code: 'invalid_snapshot' })
  })

  test('with a child that was at work says which, and what a person has to do', async () => {
    const journal = new MemoryJournal()
    const child = new Agent({ model: answering(saying('x')), tools: [noting([], 'pay')], journal })
    const parent = (tools = [agentTool(child, { name: 'payer', description: 'Pays.' })]) =>
      new Agent({
        model: answering(proposing(['payer', { prompt: 'Pay.' }]), saying('Done.')),
        tools,
        playbook: playbookOf([step('pay', { expectedTools: ['payer'] })]),
        journal,
      })
    await parent().run('go', { run: 'above' })
    const entries = await journal.read('above')
    const delegated = entries.findIndex(({ type }) => type === 'agent.delegated')
    const cut = {
      run: 'other',
      entries: entries.slice(0, delegated + 1).map((each) => ({ ...each, run: 'other' })),
    }
    const result = await parent().resume(cut)
    const name = String(entries[delegated]!.data['child'])
    expect(result.status).toBe('incomplete')
    expect(result.reason).toContain(`run ${name} was at work under 1.c1 and is not taken up: read its record`)
    expect(result.reason).toContain("settle: { '1.c1': { outcome } }")
  })
})
