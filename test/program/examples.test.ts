/** The Markdown playbooks in `examples` do what they say, with the model asked as seldom as can be. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CuttableJournal, runCase, type RunCase } from './run-case.ts'

const tools: NonNullable<RunCase['tools']> = [
  { name: 'validate_token', parameters: ['token'], replies: [{ result: { valid: true } }] },
  {
    name: 'get_order_status',
    parameters: ['order_id'],
    replies: [{ result: { order_id: 'ORD-42', expected_delivery_date: '2026-12-01' } }],
  },
  {
    name: 'lookup_order',
    parameters: ['order_id'],
    replies: [
      {
        result: {
          total: 620,
          items: [
            { name: 'kettle', price: 22 },
            { name: 'sofa', price: 620 },
          ],
        },
      },
    ],
  },
  { name: 'hand_over', parameters: ['order_id', 'reason'], risk: 'write' },
]

async function runExample(file: string, rest: Pick<RunCase, 'says' | 'turns'>) {
  const text = readFileSync(new URL(`../../examples/${file}`, import.meta.url), 'utf8')
  return await runCase({ note: file, text, tools, want: { status: '' }, ...rest }, new CuttableJournal())
}

test('order-status.md asks a model for one thing: the last words', async () => {
  const run = await runExample('order-status.md', { says: ['ORD-42'], turns: [{ write: 'On 1 December.' }] })
  expect(run.result.status).toBe('succeeded')
  expect(run.calls).toEqual(['validate_token {"token":"T-7"}', 'get_order_status {"order_id":"ORD-42"}'])
  expect(run.asked).toEqual(['write'])
  expect(run.said.at(-1)).toBe('agent: On 1 December.')
})

test('refund.md hands large orders over', async () => {
  const run = await runExample('refund.md', { says: ['ORD-77'], turns: [{ write: 'I am sorry.' }] })
  expect(run.result.status).toBe('succeeded')
  expect(run.calls).toEqual([
    'lookup_order {"order_id":"ORD-77"}',
    'hand_over {"order_id":"ORD-77","reason":"The total is over 500"}',
  ])
  expect(run.asked).toEqual(['write'])
})

test('returns.md walks through the items, and thanks a good customer', async () => {
  const run = await runExample('returns.md', {
    says: ['ORD-42', 'no', 'yes'],
    turns: [
      { extract: { unopened: false }, match: [] },
      { extract: { unopened: true }, match: [] },
    ],
  })
  expect(run.result.reason).toBeNull()
  expect(run.said).toEqual([
    'agent: Please tell me: order id.',
    'person: ORD-42',
    'agent: Is the kettle unopened?',
    'person: no',
    'agent: Then the kettle stays with you.',
    'agent: Is the sofa unopened?',
    'person: yes',
    'agent: Thank you for buying so much from us.',
    'agent: You get back 558.',
  ])
})
