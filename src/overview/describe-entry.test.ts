import { expect, it } from 'vitest'
import { describeEntry } from './describe-entry.ts'

const entry = (found: unknown) =>
  describeEntry({
    type: 'tool.settled',
    seq: 4,
    data: { callId: 'cordon', outcome: 'succeeded', ...(found === undefined ? {} : { found }) },
  } as never).join('')

it('tells how it became known what became of a call', () => {
  expect(entry(undefined)).toBe('   4 → cordon succeeded')
  expect(entry({ how: 'reconciled', note: 'already cordoned' })).toBe(
    '   4 → cordon succeeded · outcome unknown → reconciled: already cordoned',
  )
  expect(entry({ how: 'repeated' })).toContain('outcome unknown → sent again under its key')
})

it.each([null, 'reconciled', {}, { how: 'guessed' }, { how: ['reconciled'] }])(
  'says nothing of %j, which a record from elsewhere may hold',
  (found) => expect(entry(found)).toBe('   4 → cordon succeeded'),
)
