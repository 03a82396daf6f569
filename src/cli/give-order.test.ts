import { expect, it } from 'vitest'
import type { JournalEntry } from '../app.ts'
import { isUndoing } from './give-order.ts'

const entries = (...types: string[]) => types.map((type) => ({ type }) as JournalEntry)

it('tells undoing after a failure from undoing because somebody cancelled', () => {
  expect(isUndoing(entries('run.started', 'compensation.begun'))).toBe(true)
  expect(isUndoing(entries('run.started', 'cancel.requested', 'compensation.begun'))).toBe(false)
  expect(isUndoing(entries('run.started'))).toBe(false)
})
