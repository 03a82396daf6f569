import { escapeControl } from '../shared/escape-control.ts'
import type { JsonObject } from '../shared/json.ts'

/** What an agent does next: call a tool, or give its final answer. */
export type DemoMove =
  | { readonly kind: 'call'; readonly tool: string; readonly args: JsonObject }
  | { readonly kind: 'finish'; readonly message: string }

const verifyCustomer = call('lookup_customer', { customer_id: 'C-7' })
const verifyOrder = call('lookup_order', { order_id: 'ORD-42' })
const refund = call('refund', { order_id: 'ORD-42', customer_id: 'C-7', amount: 30 })
const notify = call('notify_customer', { customer_id: 'C-7', message: 'We have refunded $30.' })
const done: DemoMove = { kind: 'finish', message: 'Refunded ORD-42 and told the customer.' }

/** An agent that keeps to the procedure. */
export const behavingAgent: readonly DemoMove[] = [verifyCustomer, verifyOrder, refund, notify, done]

/** An agent that tries to get around it. */
export const straying: readonly DemoMove[] = [
  refund,
  verifyCustomer,
  call('export_customers', { to: 'me@example.com' }),
  verifyOrder,
  call('refund', { order_id: 'ORD-99', customer_id: 'C-7', amount: 900 }),
  call('refund', { order_id: 'ORD-42', customer_id: 'C-7', amount: 3000 }),
  refund,
  refund,
  done,
  notify,
  done,
]

function call(tool: string, args: JsonObject): DemoMove {
  return { kind: 'call', tool, args }
}

/** A call as the demo shows it: the order or the customer, and the amount. */
export function describeDemoCall(tool: string, args: JsonObject): string {
  const amount = typeof args['amount'] === 'number' ? `$${args['amount']}` : ''
  const subject = args['order_id'] ?? args['customer_id'] ?? ''
  return `${escapeControl(tool).padEnd(16)} ${escapeControl(String(subject)).padEnd(7)} ${amount.padEnd(6)}`
}
