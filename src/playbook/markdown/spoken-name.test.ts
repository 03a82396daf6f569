import { expect, test } from 'vitest'
import { Callables } from './callables.ts'
import { joinSpokenNames } from './spoken-name.ts'

const callables = new Callables()
for (const name of ['Order total', 'total', 'Check the order', 'Größe messen'])
  callables.add({
    target: { kind: 'playbook', id: name },
    name,
    agent: 'A',
    public: false,
    parameters: [],
    required: [],
    risk: null,
  })

test.each([
  ['Order total(5)', 'Order_total(5)'],
  ['not Order total(5) and order Total()', 'not Order_total(5) and order_Total()'],
  ['total(Order total(1))', 'total(Order_total(1))'],
  ['Check order(1)', 'Check_order(1)'],
  ['größe messen()', 'größe_messen()'],
  ['"Order total(5)"', '"Order total(5)"'],
  ['$order total(5)', '$order total(5)'],
  ['Order total (5)', 'Order total (5)'],
  ['Other total(5)', 'Other total(5)'],
])('%s', (text, joined) => {
  expect(joinSpokenNames(text, callables, 'A')).toBe(joined)
  expect(joined).toHaveLength(text.length)
})
