import type { JsonObject } from '../shared/json.ts'
import { PracticeRefusal, textOf, type PracticeDeed, type PracticeRoute } from './practice-route.ts'
import type { PracticeStore } from './practice-store.ts'
import type { PracticeOrder } from './practice-world.ts'

/** An order desk: orders, customers, refunds and messages. */
export const deskRoutes: readonly PracticeRoute[] = [
  {
    method: 'GET',
    path: '/orders/{order_id}',
    tool: 'practice.lookup_order',
    read: (store, { names }) => orderOf(store, names['order_id']!),
  },
  {
    method: 'GET',
    path: '/customers/{customer_id}',
    tool: 'practice.lookup_customer',
    read: (store, { names }) => customerOf(store, names['customer_id']!),
  },
  {
    method: 'POST',
    path: '/orders/{order_id}/refunds',
    tool: 'practice.refund',
    write: (store, { names, body }) => refund(store, orderOf(store, names['order_id']!), body),
  },
  {
    method: 'POST',
    path: '/customers/{customer_id}/messages',
    tool: 'practice.notify_customer',
    write: (store, { names, body }) => {
      const { customer_id } = customerOf(store, names['customer_id']!)
      const text = textOf(body, 'text')
      const message_id = `M-${store.list('message').length + 1}`
      store.put('message', message_id, { message_id, customer_id: customer_id!, text })
      return {
        target: `customer/${String(customer_id)}`,
        changed: true,
        body: { message_id, customer_id: customer_id!, sent: true },
      }
    },
  },
]

function refund(store: PracticeStore, order: PracticeOrder, body: JsonObject): PracticeDeed {
  const { amount, customer_id: given = order.customer_id } = body
  if (given !== order.customer_id) {
    throw new PracticeRefusal(422, `${order.order_id} is not an order of ${String(given)}`)
  }
  if (typeof amount !== 'number' || !(amount > 0)) {
    throw new PracticeRefusal(422, `'amount' must be a number above 0`)
  }
  // Counted in cents: sums of fractions would drift.
  const left = cents(order.total) - cents(order.refunded)
  if (cents(amount) > left || cents(amount) === 0) {
    throw new PracticeRefusal(422, `${left / 100} of ${order.order_id} can be paid back, not ${amount}`)
  }
  const refund_id = `R-${store.list('refund').length + 1}`
  const { order_id, customer_id } = order
  const refunded = (cents(order.refunded) + cents(amount)) / 100
  store.put('order', order_id, { ...order, refunded })
  store.put('refund', refund_id, { refund_id, order_id, customer_id, amount })
  return {
    target: `order/${order_id}`,
    changed: true,
    body: { refund_id, order_id, customer_id, amount, refunded, changed: true },
  }
}

function cents(amount: number): number {
  return Math.round(amount * 100)
}

function orderOf(store: PracticeStore, id: string): PracticeOrder {
  const order = store.find('order', id)
  if (order === null) throw new PracticeRefusal(404, `there is no order ${id}`)
  return order as PracticeOrder
}

function customerOf(store: PracticeStore, id: string): JsonObject {
  const customer = store.find('customer', id)
  if (customer === null) throw new PracticeRefusal(404, `there is no customer ${id}`)
  return customer
}
