import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { answering, noting, proposing, saying, type Log } from './run-agent.ts'

describe('an answer of the model', () => {
  test('with more calls than a turn may have: the first are judged, the others not made, and it is told so', async () => {
    const log: Log = []
    const model = answering(proposing(...Array.from({ length: 10_000 }, () => 'look')), saying('Done.'))
    const { status, snapshot } = await new Agent({ model, tools: [noting(log, 'look', 'read')] }).run('go')
    expect(status).toBe('succeeded')
    expect(log).toHaveLength(128)
    expect(model.questions[1]!.conversation).toContain('9872 more calls of yours were not executed')
    const answered = snapshot.entries.find(({ type }) => type === 'model.answered')
    expect(answered?.data).toMatchObject({ dropped: 9_872 })
  })

  test.each([
    ['too long a text', saying('z'.repeat(12_000_000))],
    ['half of a character', saying('Done \ud83d')],
    ['too many parts', proposing(['look', { list: Array.from({ length: 60_000 }, () => 1) }])],
  ])('that cannot be written down fails the run, and its end is on record: %s', async (_, answer) => {
    const log: Log = []
    const agent = new Agent({ model: answering(answer), tools: [noting(log, 'look', 'read')] })
    const { status, reason, snapshot } = await agent.run('go')
    expect(status).toBe('failed')
    expect(reason).toMatch(/^the model's answer cannot be written down: /)
    expect(snapshot.entries.at(-1)).toMatchObject({ type: 'run.finished', data: { status: 'failed' } })
    expect(log).toEqual([])
  })
})
