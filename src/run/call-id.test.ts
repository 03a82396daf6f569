import { describe, expect, test } from 'vitest'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { Playbook } from '../playbook/playbook.ts'
import { readCallId, withoutAttempt, writeCallId } from './call-id.ts'

const compiled = compilePlaybook(
  new Playbook({
    id: 'p',
    name: 'P',
    steps: [
      { id: 'a.b/c-d', description: '', tool: 'do' },
      { id: 'look', description: '', expectedTools: ['see'] },
    ],
  }),
)

describe('the id of a call', () => {
  test.each([
    ['a.b/c-d', { visit: 1, item: null, purpose: 'call', attempt: 1 }],
    ['a.b/c-d~12', { visit: 1, item: null, purpose: 'call', attempt: 12 }],
    ['a.b/c-d[0]', { visit: 1, item: 0, purpose: 'call', attempt: 1 }],
    ['a.b/c-d#2[9]?~3', { visit: 2, item: 9, purpose: 'verify', attempt: 3 }],
    ['a.b/c-d?', { visit: 1, item: null, purpose: 'verify', attempt: 1 }],
  ] as const)('%s is written and read', (id, name) => {
    expect(readCallId(compiled, id)).toEqual({ step: 0, ...name })
    expect(writeCallId('a.b/c-d', name)).toBe(id)
  })

  test.each(['look', 'look~2', 'other', 'a.b/c-d!', 'a.b/c-d~', 'a.b/c-d[x]', '1.a.b/c-d', '', 'call-1'])(
    '%j is that of no call step',
    (id) => expect(readCallId(compiled, id)).toBeNull(),
  )

  test('its key leaves the attempt out, and nothing else', () => {
    expect(['a', 'a~2', 'a[3]~10', 'a?~2', 'a!~3', 'a#2'].map(withoutAttempt)).toEqual([
      'a',
      'a',
      'a[3]',
      'a?',
      'a!',
      'a#2',
    ])
  })
})
