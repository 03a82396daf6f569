import { describe, expect, it } from 'vitest'
import { recordedRequesters, requestersOf } from './requesters-of.ts'

const started = { type: 'run.started', principal: 'hook:hk_1' }
const prompted = (requesters: unknown) => ({
  type: 'agent.prompted',
  principal: 'hook:hk_1',
  data: { text: '', origin: { requesters } as never },
})

describe('who asked for a run', () => {
  it('is who worked on it, and who was written down as being behind them', () => {
    const entries = [
      started,
      prompted(['hook:hk_1', 'ann@example.org']),
      { type: 'tool.held', principal: 'bob@example.org' },
      { type: 'approval.voted', principal: 'eve@example.org' },
      // Only the beginning says who began it.
      prompted(['eve@example.org']),
    ]
    expect(recordedRequesters(entries)).toEqual(['hook:hk_1', 'ann@example.org'])
    expect(requestersOf(entries)).toEqual(['hook:hk_1', 'bob@example.org', 'ann@example.org'])
  })

  it('is not known from a record that does not say it, or whose prompt was taken out', () => {
    const gone = { type: 'agent.prompted', principal: 'hook:hk_1', data: null }
    for (const entries of [[], [started], [started, gone], [started, prompted('ann@example.org')]])
      expect(recordedRequesters(entries)).toBeNull()
    expect(requestersOf([started, gone])).toEqual(['hook:hk_1'])
    expect(requestersOf([started, prompted([7, 'ann@example.org'])])).toEqual([
      'hook:hk_1',
      'ann@example.org',
    ])
  })
})
