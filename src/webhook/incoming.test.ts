import { describe, expect, it } from 'vitest'
import type { Json } from '../shared/json.ts'
import { checkMapping, mapEvent, readEvents, runOfEvent, type HookMapping } from './incoming.ts'

const hook = (more: Partial<HookMapping>): HookMapping => ({
  kind: 'generic',
  inputs: {},
  when: null,
  ...more,
})
const request = (body: Json, headers: Record<string, string> = {}) => ({
  headers,
  raw: JSON.stringify(body),
  body,
})

const alert = (status: string, node: string) => ({
  status,
  labels: { alertname: 'NodeDown', node },
  annotations: {},
  startsAt: '2026-11-16T07:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: `f-${node}`,
})
const alerts = {
  version: '4',
  groupKey: '{}:{alertname="NodeDown"}',
  status: 'firing',
  receiver: 'lockstep',
  commonLabels: { alertname: 'NodeDown' },
  alerts: [alert('firing', 'node-7'), alert('resolved', 'node-8')],
}

describe('incoming events', () => {
  it('of Alertmanager are one for each alert, known by fingerprint and beginning', () => {
    const events = readEvents('alertmanager', request(alerts))
    expect(events).toMatchObject([
      {
        key: 'f-node-7/2026-11-16T07:00:00Z',
        body: { labels: { node: 'node-7' }, group: { receiver: 'lockstep' } },
      },
      { key: 'f-node-8/2026-11-16T07:00:00Z' },
    ])
    const mapping = hook({ kind: 'alertmanager', inputs: { node: 'body.labels.node' } })
    if (typeof events === 'string') throw new Error(events)
    expect(events.map(({ body }) => mapEvent(mapping, body))).toEqual([
      { inputs: { node: 'node-7' } },
      { ignored: true },
    ])
  })

  it('of PagerDuty are known by their id, and only what is triggered counts', () => {
    const body = { event: { id: 'E1', event_type: 'incident.triggered', data: { title: 'down' } } }
    expect(readEvents('pagerduty', request(body))).toEqual([{ key: 'E1', body }])
    const mapping = hook({ kind: 'pagerduty', inputs: { title: 'body.event.data.title' } })
    expect(mapEvent(mapping, body)).toEqual({ inputs: { title: 'down' } })
    expect(mapEvent(mapping, { event: { id: 'E2', event_type: 'incident.resolved' } })).toEqual({
      ignored: true,
    })
  })

  it('of anybody are known by their delivery, else by what they say', () => {
    expect(readEvents('generic', request({ a: 1 }, { 'lockstep-delivery': 'd1' }))).toMatchObject([
      { key: 'd1' },
    ])
    const [one] = readEvents('generic', request({ a: 1 })) as readonly { key: string }[]
    const [same] = readEvents('generic', request({ a: 1 })) as readonly { key: string }[]
    const [other] = readEvents('generic', request({ a: 2 })) as readonly { key: string }[]
    expect([one!.key === same!.key, one!.key === other!.key]).toEqual([true, false])
  })

  it.each([
    ['alertmanager', {}],
    ['alertmanager', { alerts: [7] }],
    ['alertmanager', null],
    ['pagerduty', { event: {} }],
    ['pagerduty', [1]],
  ] as const)('of %s with another form say why they are none: %j', (kind, body) => {
    expect(readEvents(kind, request(body as Json))).toEqual(expect.any(String))
  })

  it('that cannot be mapped say where', () => {
    const mapping = hook({ inputs: { node: 'body.node', many: 'len(body.list)', text: 'f"{body.node}!"' } })
    expect(mapEvent(mapping, { node: 'n', list: [1, 2] })).toEqual({
      inputs: { node: 'n', many: 2, text: 'n!' },
    })
    expect(mapEvent(mapping, { list: [] })).toMatchObject({
      errors: [{ path: 'inputs.node' }, { path: 'inputs.text' }],
    })
    expect(mapEvent(hook({ when: 'body.a > 1' }), { a: 'x' })).toMatchObject({ errors: [{ path: 'when' }] })
    expect(mapEvent(hook({ when: 'body.a > 1' }), { a: 1 })).toEqual({ ignored: true })
  })

  it('are mapped by expressions that were checked', () => {
    expect(checkMapping({ inputs: { node: 'body.node' }, when: 'body.x == 1' })).toEqual([])
    expect(
      checkMapping({ inputs: { a: 'body.(', b: 'process.env' }, when: 'nobody' }).map(({ path }) => path),
    ).toEqual(['when', 'inputs.a', 'inputs.b'])
  })

  it('begin a run that is named after them', () => {
    expect(runOfEvent('hk_1', 'a')).toBe(runOfEvent('hk_1', 'a'))
    expect(new Set([runOfEvent('hk_1', 'a'), runOfEvent('hk_1', 'b'), runOfEvent('hk_2', 'a')]).size).toBe(3)
    expect(runOfEvent('hk_1', 'a')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })
})
