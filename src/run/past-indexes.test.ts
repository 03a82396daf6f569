import { describe, expect, it } from 'vitest'
import { pastKey, pastShape } from '../playbook/past-query.ts'
import type { JsonObject } from '../shared/json.ts'
import { PastIndexes } from './past-indexes.ts'
import type { Ticket, TicketState } from './ticket.ts'

const byOrder = { shape: pastShape('pay', ['order']), names: ['order'] }
const byBoth = { shape: pastShape('pay', ['order', 'amount']), names: ['amount', 'order'] }
const whatever = { shape: pastShape('pay', []), names: [] }

function ticketOf(args: JsonObject | null, tool = 'pay'): Ticket {
  return {
    callId: 'c',
    tool,
    args,
    step: 0,
    visit: 1,
    extra: false,
    observed: null,
    target: null,
    approval: null,
    admittedAt: 0,
    state: 'admitted',
    settledAt: null,
    settlement: null,
    result: undefined,
    error: null,
  }
}

function indexes(): PastIndexes {
  return new PastIndexes(new Map([['pay', [byOrder, byBoth, whatever]]]))
}

function made(past: PastIndexes, args: JsonObject | null, state: TicketState, result?: string): Ticket {
  const ticket = ticketOf(args)
  past.admit(ticket)
  if (state !== 'admitted') {
    ticket.state = state
    ticket.result = result
    past.settle(ticket)
  }
  return ticket
}

const ofOrder = (past: PastIndexes, order: string) => past.tally(byOrder.shape, pastKey([order]))

describe('PastIndexes', () => {
  it('knows nothing of calls that were never made, and nothing of questions nobody asks', () => {
    const past = indexes()
    expect(ofOrder(past, 'O-1')).toBeUndefined()
    expect(past.tally('other()', '')).toBeUndefined()
  })

  it('counts calls by the arguments that are asked about, and by none', () => {
    const past = indexes()
    made(past, { order: 'O-1', amount: 5 }, 'succeeded', 'first')
    made(past, { order: 'O-1', amount: 6 }, 'failed')
    made(past, { order: 'O-2', amount: 5 }, 'admitted')
    expect(ofOrder(past, 'O-1')).toEqual({ succeeded: 1, failed: 1, open: 0, result: 'first' })
    expect(ofOrder(past, 'O-2')).toEqual({ succeeded: 0, failed: 0, open: 1, result: undefined })
    expect(past.tally(byBoth.shape, pastKey([6, 'O-1']))).toMatchObject({ failed: 1, succeeded: 0 })
    expect(past.tally(whatever.shape, pastKey([]))).toMatchObject({ succeeded: 1, failed: 1, open: 1 })
  })

  it('keeps a call of unknown outcome open until it is known', () => {
    const past = indexes()
    const ticket = made(past, { order: 'O-1' }, 'unknown')
    expect(ofOrder(past, 'O-1')).toMatchObject({ open: 1, succeeded: 0 })
    ticket.state = 'succeeded'
    ticket.result = 'late'
    past.settle(ticket)
    expect(ofOrder(past, 'O-1')).toEqual({ succeeded: 1, failed: 0, open: 0, result: 'late' })
  })

  it('forgets a call that was not executed', () => {
    const past = indexes()
    made(past, { order: 'O-1' }, 'not_executed')
    expect(ofOrder(past, 'O-1')).toEqual({ succeeded: 0, failed: 0, open: 0, result: undefined })
  })

  it('remembers the result of the latest success', () => {
    const past = indexes()
    made(past, { order: 'O-1' }, 'succeeded', 'old')
    made(past, { order: 'O-1' }, 'succeeded', 'new')
    made(past, { order: 'O-1' }, 'failed')
    expect(ofOrder(past, 'O-1')?.result).toBe('new')
  })

  it('does not match a call that lacks an argument that is asked about, or carries none', () => {
    const past = indexes()
    made(past, { amount: 5 }, 'succeeded')
    made(past, null, 'succeeded')
    expect(ofOrder(past, 'undefined')).toBeUndefined()
    expect(past.tally(whatever.shape, '')).toMatchObject({ succeeded: 2 })
  })

  it('asks own arguments only: nothing that every object inherits', () => {
    const past = new PastIndexes(new Map([['pay', [{ shape: 'pay(constructor)', names: ['constructor'] }]]]))
    expect(() => made(past, { order: 'O-1' }, 'succeeded')).not.toThrow()
  })

  it('ignores tools nobody asks about', () => {
    const past = indexes()
    past.admit(ticketOf({ order: 'O-1' }, 'look'))
    expect(ofOrder(past, 'O-1')).toBeUndefined()
  })
})

describe('pastKey', () => {
  it('tells values of different types and places apart', () => {
    const keys = [
      [],
      ['1'],
      [1],
      [true],
      ['true'],
      [null],
      ['null'],
      [['1']],
      ['["1"]'],
      ['a', 'b'],
      ['b', 'a'],
      ['a,b'],
      ['"a","b"'],
      [{ a: 1 }],
      ['{"a":1}'],
    ].map((values) => pastKey(values as never))
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('gives equal values one key, however their members are ordered', () => {
    expect(pastKey([{ a: 1, b: [2] }])).toBe(pastKey([{ b: [2], a: 1 }]))
    expect(pastKey([1])).toBe(pastKey([1.0]))
  })
})

describe('pastShape', () => {
  it('does not depend on the order in which arguments are named', () => {
    expect(pastShape('pay', ['b', 'a'])).toBe(pastShape('pay', ['a', 'b']))
    expect(pastShape('pay', ['a'])).not.toBe(pastShape('pay', []))
  })
})
