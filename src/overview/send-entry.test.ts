import { expect, test } from 'vitest'
import type { Json } from '../shared/json.ts'
import { sendEntry } from './send-entry.ts'

function sent(data: Record<string, Json>, type = 'tool.settled') {
  return sendEntry({ v: 1, run: 'r', seq: 1, at: 0, tenant: 't', principal: 'ann', type, data }).data
}

const token = `ghp_${'a1B2'.repeat(10)}`

test('takes secrets out, wherever they stand', () => {
  expect(sent({ result: { deep: [`see ${token}`], password: 'hunter2' } })).toEqual({
    result: { deep: ['see [redacted]'], password: '[redacted]' },
  })
})

test('cuts what is long, and leaves no part of a secret at the cut', () => {
  for (const before of [19_980, 20_000, 24_950, 24_990]) {
    const text = `${'word '.repeat(before / 5)}${token} and ${'more '.repeat(10_000)}`
    const [shown] = (sent({ list: [text] })['list'] ?? []) as [string]
    expect(shown).toMatch(/ \[cut: \d+ characters\]$/)
    expect(shown.length).toBeLessThan(20_100)
    expect(shown).not.toContain('ghp_')
  }
  const many = `password=${'x'.repeat(100)} `.repeat(230) + token.slice(0, 12).padEnd(9000, ' ')
  expect(JSON.stringify(sent({ many }))).not.toMatch(/ghp_|xxxx/)
})

test('tells what a model said once', () => {
  expect(sent({ text: 'hi', message: { role: 'assistant' } }, 'model.answered')).toEqual({ text: 'hi' })
  expect(sent({ message: 'why' }, 'run.finished')).toEqual({ message: 'why' })
})
