// A shop behind the command line, for lockstep.config.yaml. What it changes it writes to the file in DESK_LOG, if there is one.
import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'

const customers = {
  'C-7': { customer_id: 'C-7', name: 'Ada Moreno', active: true },
  'C-8': { customer_id: 'C-8', name: 'Lin Osei', active: false },
}
const orders = {
  'ORD-42': { order_id: 'ORD-42', customer_id: 'C-7', total: 30 },
  'ORD-43': { order_id: 'ORD-43', customer_id: 'C-8', total: 120 },
}

const [what, ...rest] = process.argv.slice(2)

switch (what) {
  case 'customer':
    find(customers, rest[0])
    break
  case 'order':
    find(orders, rest[0])
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
