import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../journal/journal.ts'
import type { JsonObject } from '../shared/json.ts'
import { eventBody } from './event-body.ts'
import { eventsOfRun } from './event.ts'

function record(...facts: readonly (readonly [string, JsonObject])[]): JournalEntry[] {
  return facts.map(([type, data], index) => ({
    v: 1,
    run: 'r_1',
    seq: index + 1,
    at: 1_800_000_000_000 + index,
    tenant: 'acme',
    principal: 'ann@a.example',
    type,
    data,
  }))
}

const held = [
  'tool.held',
  {
    callId: 'c1',
    tool: 'refund',
    args: { order: '<!channel> & co', password: 'hunter2' },
    step: 'pay',
    expiresAt: 1_800_000_900_000,
    demands: [],
    policy: { decision: { rule: 'approvals.lead', policy: null, reason: 'A lead looks.' } },
  },
] as const
const voted = (answer: string, comesTo: string) =>
  [
    'approval.voted',
    {
      callId: 'c1',
      comesTo,
      vote: { person: 'bob@a.example', identity: 'local', roles: [], at: 1, answer, reason: 'no' },
    },
  ] as const

const context = { tenant: 'acme', playbook: 'Refund <desk>', project: 'prj_1', url: 'https://l.example' }

describe('events of a run', () => {
  it('are what people are to know of, each under an id of its own', () => {
    const entries = record(['run.started', {}], held, voted('approve', 'waiting'), voted('deny', 'denied'), [
      'run.finished',
      { status: 'failed', message: 'denied by bob' },
    ])
    const events = eventsOfRun(entries)
    expect(events.map(({ type, subject }) => [type, subject.slice(0, 2)])).toEqual([
      ['approval.pending', 'a_'],
      ['approval.decided', 'a_'],
      ['run.finished', 'r_'],
    ])
    expect(new Set(events.map(({ id }) => id)).size).toBe(3)
    expect(eventsOfRun(entries)).toEqual(events)
    expect(events[1]!.data).toMatchObject({
      state: 'denied',
      decidedBy: 'bob@a.example',
      decision: 'deny',
      said: 'no',
    })
    expect(events[2]!.data).toMatchObject({
      status: 'failed',
      reason: 'denied by bob',
      startedBy: 'ann@a.example',
    })
    expect(
      eventsOfRun(record(['run.started', {}], held, ['approval.expired', { callId: 'c1' }])).at(-1),
    ).toMatchObject({ type: 'approval.expired', data: { state: 'expired' } })
  })

  it('tell no answer of a run that succeeded, and no secret', () => {
    const [only] = eventsOfRun(
      record(['run.started', {}], ['run.finished', { status: 'succeeded', message: 'the answer' }]),
    )
    expect(only!.data).toMatchObject({ status: 'succeeded', reason: null })
    expect(JSON.stringify(eventsOfRun(record(['run.started', {}], held)))).not.toContain('hunter2')
  })
})

describe('the body of an event', () => {
  const [pending] = eventsOfRun(record(['run.started', {}], held))

  it('says everything, and leads to the page', () => {
    expect(JSON.parse(eventBody(pending!, 'json', context))).toMatchObject({
      id: pending!.id,
      type: 'approval.pending',
      at: '2027-01-15T08:00:00.001Z',
      tenant: 'acme',
      project: 'prj_1',
      playbook: 'Refund <desk>',
      url: `https://l.example/console/approvals/${pending!.subject}`,
      data: { approval: pending!.subject, tool: 'refund', step: 'pay' },
    })
  })

  it('for Slack mentions nobody and is no markup, whatever a call says', () => {
    const body = JSON.parse(eventBody(pending!, 'slack', context)) as {
      blocks: { text?: { text: string } }[]
    }
    const text = body.blocks[0]!.text!.text
    expect(text).toContain('&lt;!channel&gt; &amp; co')
    expect(text).toContain('Refund &lt;desk&gt;')
    expect(text).not.toMatch(/<!/)
  })
})
