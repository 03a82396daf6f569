import type { JsonSchema } from '../shared/json-schema.ts'
import { ToolFailure } from '../tool/tool-failure.ts'
import { tool, type Tool } from '../tool/tool.ts'

/** The shop behind the demo: real tools over a few orders in memory, so that what a stopped call would have done shows. */
export interface DemoDesk {
  readonly tools: readonly Tool[]
  /** The refunds that were really paid. */
  readonly paid: readonly { readonly order: string; readonly amount: number }[]
  /** The customers who were really told. */
  readonly told: readonly string[]
}

const customers = new Map([
  ['C-7', { customer_id: 'C-7', name: 'Ada Moreno', active: true }],
  ['C-8', { customer_id: 'C-8', name: 'Lin Osei', active: false }],
])

const orders = new Map([
  ['ORD-42', { order_id: 'ORD-42', customer_id: 'C-7', total: 30 }],
  ['ORD-43', { order_id: 'ORD-43', customer_id: 'C-8', total: 120 }],
  ['ORD-99', { order_id: 'ORD-99', customer_id: 'C-7', total: 900 }],
])

const text = { type: 'string' } as const

/** Opens a shop of its own for one run. */
export function createDemoDesk(): DemoDesk {
  const paid: { order: string; amount: number }[] = []
  const told: string[] = []
  const tools = [
    tool<{ customer_id: string }>({
      name: 'lookup_customer',
      description: 'Looks a customer up.',
      risk: 'read',
      input: input({ customer_id: text }),
      execute: ({ customer_id }) => found(customers.get(customer_id), customer_id),
    }),
    tool<{ order_id: string }>({
      name: 'lookup_order',
      description: 'Looks an order up.',
      risk: 'read',
      input: input({ order_id: text }),
      execute: ({ order_id }) => found(orders.get(order_id), order_id),
    }),
    tool<{ order_id: string; customer_id: string; amount: number }>({
      name: 'refund',
      description: 'Pays money back.',
      risk: 'irreversible',
      input: input({ order_id: text, customer_id: text, amount: { type: 'number' } }),
      execute: ({ order_id, amount }) => {
        paid.push({ order: order_id, amount })
        return { refund_id: `R-${paid.length}`, amount }
      },
    }),
    tool<{ customer_id: string; message: string }>({
      name: 'notify_customer',
      description: 'Sends the customer a message.',
      risk: 'write',
      input: input({ customer_id: text, message: text }),
      execute: ({ customer_id }) => {
        told.push(customer_id)
        return { sent: true }
      },
    }),
  ]
  return { tools, paid, told }
}

/** The schema of arguments that must all be there, and nothing else. */
function input(properties: Record<string, { readonly type: string }>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

function found<Record>(record: Record | undefined, id: string): Record {
  if (record === undefined) throw new ToolFailure(`there is no ${id}`)
  return record
}
