// A shop behind the command line, for lockstep.config.yaml. What it changes it writes to the file in DESK_LOG, if there is one.
import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'

const customers = {
  'C-7': { customer_id: 'C-7', name: 'Ada Moreno', active: true },
  'C-8': { customer_id: 'C-8', name: 'Lin Osei', active: false },
}
const orders = {
  'ORD-42': {
    order_id: 'ORD-42',
    customer_id: 'C-7',
    total: 30,
    items: [
      { name: 'kettle', price: 22 },
      { name: 'tea towel', price: 8 },
    ],
  },
  'ORD-43': { order_id: 'ORD-43', customer_id: 'C-8', total: 120, items: [{ name: 'lamp', price: 120 }] },
  'ORD-77': { order_id: 'ORD-77', customer_id: 'C-7', total: 620, items: [{ name: 'sofa', price: 620 }] },
}
const deliveries = {
  'ORD-42': { order_id: 'ORD-42', status: 'on its way', expected_delivery_date: '2026-12-01' },
  'ORD-43': { order_id: 'ORD-43', status: 'packed', expected_delivery_date: '2026-12-04' },
}
const tokens = { 'T-7': { valid: true, customer_id: 'C-7' } }

const [what, ...rest] = process.argv.slice(2)

switch (what) {
  case 'customer':
    find(customers, rest[0])
    break
  case 'order':
    find(orders, rest[0])
    break
  case 'status':
    find(deliveries, rest[0])
    break
  case 'token':
    console.log(JSON.stringify(Object.hasOwn(tokens, rest[0]) ? tokens[rest[0]] : { valid: false }))
    break
  case 'handover':
    change(`handed over ${rest[0].slice('--order='.length)}: ${rest.at(-1)}`)
    console.log(JSON.stringify({ handed_over: true, answer_within_hours: 24 }))
    break
  case 'refund': {
    const { order_id, amount } = JSON.parse(await text(process.stdin))
    change(`refunded ${order_id} ${amount}`)
    console.log(JSON.stringify({ refund_id: `R-${order_id}`, amount }))
    break
  }
  case 'notify':
    change(`told ${rest[0].slice('--to='.length)}: ${rest.at(-1)}`)
    console.log('sent')
    break
  default:
    console.error(`desk: unknown command ${what}`)
    process.exit(2)
}

function find(records, id) {
  if (!Object.hasOwn(records, id)) {
    console.error(`desk: there is no ${id}`)
    process.exit(4)
  }
  console.log(JSON.stringify(records[id]))
}

function change(line) {
  if (process.env.DESK_LOG) appendFileSync(process.env.DESK_LOG, `${line}\n`)
}
