import { describe, expect, test } from 'vitest'
import { maySyncLater } from './may-sync-later.ts'
import { ToolRegistry } from './tool-registry.ts'
import { tool, type Risk } from './tool.ts'

const declare = (name: string, risk?: Risk) =>
  tool({ name, description: name, execute: () => null, ...(risk === undefined ? {} : { risk }) })
const tools = new ToolRegistry([declare('look', 'read'), declare('pay', 'write'), declare('drop')])
const later = (...events: { readonly type: string; readonly [key: string]: unknown }[]) =>
  maySyncLater(
    events.map((event) => ({ at: 1, ...event })),
    tools,
  )

describe('what may be written without waiting for the disk', () => {
  test('is the intent of a tool that only reads, and of no other', () => {
    expect(later({ type: 'tool.admitted', tool: 'look' })).toBe(true)
    for (const name of ['pay', 'drop', 'unheard-of']) {
      expect(later({ type: 'tool.admitted', tool: name })).toBe(false)
      expect(later({ type: 'tool.admitted', tool: 'look' }, { type: 'tool.admitted', tool: name })).toBe(
        false,
      )
    }
    expect(maySyncLater([{ type: 'tool.admitted', at: 1, tool: 'look' } as never], null)).toBe(false)
  })

  test('is that a call succeeded and what follows from it, and no other outcome', () => {
    expect(later({ type: 'tool.settled', outcome: 'succeeded' }, { type: 'step.completed' })).toBe(true)
    for (const outcome of ['failed', 'unknown', 'not_executed']) {
      expect(later({ type: 'tool.settled', outcome })).toBe(false)
    }
    expect(later({ type: 'tool.settled', outcome: 'succeeded' }, { type: 'run.finished' })).toBe(false)
  })

  test('is nothing that nobody has thought about', () => {
    for (const type of ['run.started', 'tool.denied', 'model.answered', 'approval.decided', 'new.kind']) {
      expect(later({ type })).toBe(false)
    }
  })
})
