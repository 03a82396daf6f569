import { expect, test } from 'vitest'
// oxlint-disable-next-line import/default -- The bundler hands the file over as a text.
import list from '../../../../src/run/event-type.ts?raw'
import { describeEntry } from './describe-entry.ts'

const describe = (type: string, data: object = {}) =>
  describeEntry({ seq: 1, type, at: '2026-01-01T00:00:00Z', by: 'ada', data: data as never })

test('every kind of event can be told, even when nothing of what it should hold is there', () => {
  const types = [...list.matchAll(/'([a-z]+\.[a-z_]+)': true/g)].map(([, type]) => type!)
  expect(types.length).toBeGreaterThan(40)
  for (const type of types) expect(describe(type)?.title ?? '', type).not.toMatch(/undefined|null|\[object/)
})

test('a denial names its code and its reason', () => {
  expect(
    describe('tool.denied', {
      tool: 'pay',
      args: { order: 'o1' },
      code: 'out_of_sequence',
      message: 'Later.',
    }),
  ).toEqual({ tone: 'bad', icon: 'close', title: 'pay o1 denied: out_of_sequence', note: 'Later.' })
})

test('an outcome that nobody knows is no success', () => {
  expect(describe('tool.settled', { callId: 'c1', outcome: 'unknown', error: 'timeout' })).toMatchObject({
    tone: 'warn',
    title: 'c1 unknown',
    note: 'timeout',
  })
})

test('a kind that is not known here is shown under its own name', () => {
  expect(describe('moon.landed')?.title).toBe('moon.landed')
})
