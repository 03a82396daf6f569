import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentEvent } from '../../src/agent/agent-event.ts'
import { EventQueue } from '../../src/agent/event-queue.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { agentOf, answering, calls, notingAll, playbookOf, saying, says, step } from './run-agent.ts'

async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const list: AgentEvent[] = []
  for await (const event of events) list.push(event)
  return list
}

describe('a stream of a run', () => {
  test('tells what happens in order, ends with the run, and agrees with its record', async () => {
    const { tools } = notingAll('a')
    const agent = agentOf([calls('a'), says('All is done.')], { tools, playbook: playbookOf([step('a')]) })
    const stream = agent.stream('go')
    const events = await all(stream)
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      'agent.prompted',
      'iteration.started',
      'model.asked',
      'model.answered',
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
    const text = events.flatMap((event) => (event.type === 'text.delta' ? [event.text] : [])).join('')
    const result = await stream.result
    expect(text).toBe(result.message)
    const kept = events.filter(({ type }) => type !== 'model.asked' && type !== 'text.delta')
    expect(result.snapshot.entries.map(({ type }) => type)).toEqual(kept.map(({ type }) => type))
  })

  test('goes through the same gate', async () => {
    const { log, tools } = notingAll('a', 'b')
    const stream = agentOf([calls('b'), says('x'), says('x'), says('x')], {
      tools,
      playbook: playbookOf([step('a'), step('b')]),
    }).stream('go')
    const denied = (await all(stream)).filter(({ type }) => type === 'tool.denied')
    expect(denied).toMatchObject([{ tool: 'b', code: 'out_of_sequence' }])
    expect(log).toEqual([])
    expect((await stream.result).status).toBe('incomplete')
  })

  test('runs to its end though nobody reads it, or stops reading', async () => {
    const { log, tools } = notingAll('a')
    const stream = agentOf([calls('a'), says('x')], { tools }).stream('go')
    for await (const event of stream) if (event.type === 'run.started') break
    expect((await stream.result).status).toBe('succeeded')
    expect(log).toEqual(['a'])
    expect((await agentOf([says('x')]).stream('go').result).status).toBe('succeeded')
  })

  test('ends and its result fails when the run cannot start', async () => {
    const stream = new Agent({ model: 'nonsense:x' }).stream('go')
    expect(await all(stream)).toEqual([])
    await expect(stream.result).rejects.toMatchObject({ code: 'unknown_model' })
  })

  test('ends and its result fails when the record breaks', async () => {
    const journal = new MemoryJournal()
    await journal.close()
    const stream = agentOf([says('x')], { journal }).stream('go')
    await all(stream)
    await expect(stream.result).rejects.toMatchObject({ code: 'record_failed' })
  })

  test('of a service that fails ends with the run failed', async () => {
    const stream = agentOf([{ error: { message: 'overloaded', status: 400 } }]).stream('go')
    expect((await all(stream)).at(-1)).toMatchObject({ type: 'run.finished', status: 'failed' })
    expect(await stream.result).toMatchObject({ reason: 'the model gave no answer: overloaded' })
  })

  test('can be cancelled while the model thinks', async () => {
    const controller = new AbortController()
    const stream = agentOf([{ text: 'x', delay_ms: 5_000 }]).stream('go', { signal: controller.signal })
    setTimeout(() => controller.abort(), 20)
    expect((await all(stream)).at(-1)).toMatchObject({ type: 'run.finished', status: 'cancelled' })
  })

  test('is not needed for a model that cannot stream', async () => {
    const model = { ...answering(saying('Done.')), doStream: () => Promise.reject(new Error('no streams')) }
    expect((await new Agent({ model }).run('go')).status).toBe('succeeded')
  })
})

describe('EventQueue', () => {
  test('hands over what was pushed before, while and after somebody reads, in order', async () => {
    const queue = new EventQueue<number>()
    queue.push(1)
    const seen: number[] = []
    const reading = (async () => {
      for await (const value of queue) seen.push(value)
    })()
    await Promise.resolve()
    queue.push(2)
    await new Promise((resolve) => setTimeout(resolve, 1))
    queue.push(3)
    queue.end()
    await reading
    expect(seen).toEqual([1, 2, 3])
  })
})
