import { beforeAll, describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentSnapshot } from '../../src/agent/agent-options.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { answering, noting, playbookOf, proposing, saying, step, type Log } from './run-agent.ts'

const playbook = playbookOf([step('pay'), step('tell')])
let entries: readonly JournalEntry[] = []
let run = ''

beforeAll(async () => {
  const model = answering(proposing('pay'), proposing('tell'), saying('Done.'))
  const tools = [noting([], 'pay'), noting([], 'tell')]
  const result = await new Agent({ model, tools, playbook }).run('go')
  run = result.run
  entries = result.snapshot.entries.slice(0, -2)
})

async function resume(snapshot: unknown): Promise<Log> {
  const log: Log = []
  const tools = [noting(log, 'pay'), noting(log, 'tell')]
  const agent = new Agent({ model: answering(proposing('pay'), saying('Done.')), tools, playbook })
  await expect(agent.resume(snapshot as AgentSnapshot)).rejects.toMatchObject({ code: 'invalid_snapshot' })
  return log
}

function edit(at: number, change: Readonly<Record<string, unknown>>): unknown {
  return { run, entries: entries.map((entry, index) => (index === at ? { ...entry, ...change } : entry)) }
}

describe('a snapshot that was edited', () => {
  test.each([
    null,
    undefined,
    {},
    5,
    [],
    { run: 'x' },
    { run: 'x', entries: null },
    { run: 'x', entries: [] },
  ])('into no snapshot at all is refused: %j', async (snapshot) => {
    expect(await resume(snapshot)).toEqual([])
  })

  test.each([
    { v: 2 },
    { run: 'other' },
    { seq: 99 },
    { type: 'tool.invented' },
    { type: 'toString' },
    { at: 'now' },
    { data: null },
    { data: [] },
    { tenant: 7 },
  ])('in one entry is refused: %j', async (change) => {
    expect(await resume(edit(3, change))).toEqual([])
  })

  test('by leaving an entry out is refused, wherever, numbered anew or not', async () => {
    const needed = entries.flatMap(({ type }, index) =>
      ['run.started', 'agent.prompted', 'tool.admitted'].includes(type) ? [index] : [],
    )
    for (const gap of needed) {
      const left = entries.filter((_, index) => index !== gap)
      expect(await resume({ run, entries: left })).toEqual([])
      expect(
        await resume({ run, entries: left.map((each, index) => ({ ...each, seq: index + 1 })) }),
      ).toEqual([])
    }
  })

  test('by repeating an entry, or putting a list of nothing in its place, is refused', async () => {
    expect(await resume({ run, entries: [...entries.slice(0, 3), entries[2], ...entries.slice(3)] })).toEqual(
      [],
    )
    expect(await resume({ run, entries: [...entries.slice(0, 3), null, ...entries.slice(4)] })).toEqual([])
  })
})
