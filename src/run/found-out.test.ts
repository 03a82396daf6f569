import { expect, it } from 'vitest'
import { describeFoundOut } from './found-out.ts'

it.each([
  [{ how: 'reconciled', note: 'already cordoned' }, 'succeeded', 'reconciled: already cordoned'],
  [{ how: 'reconciled' }, 'succeeded', 'reconciled: applied'],
  [{ how: 'reconciled' }, 'failed', 'reconciled: not applied'],
  [{ how: 'reconciled' }, 'not_executed', 'reconciled: not applied'],
  [{ how: 'reconciled', note: 'no answer' }, 'unknown', 'asked, and still not known: no answer'],
  [{ how: 'repeated' }, 'succeeded', 'sent again under its key: done'],
  [{ how: 'told', by: 'ann', note: 'seen in the log' }, 'succeeded', 'ann says: applied, seen in the log'],
  [{ how: 'told', by: 'ann' }, 'failed', 'ann says: not applied'],
  [{ how: 'only_reads' }, 'failed', 'it only reads: nothing was changed'],
] as const)('tells %j of a call that %s', (found, outcome, said) => {
  expect(describeFoundOut(found, outcome)).toBe(`outcome unknown → ${said}`)
})
