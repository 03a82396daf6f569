import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  bin,
  connectStdio,
  Desk,
  deskServer,
  HttpGateway,
  refusal,
  revisions,
  rightCalls,
  textOf,
  type Revision,
  type StdioClient,
} from '../mcp/gateway-process.ts'
import { runLockstep } from './run-lockstep.ts'

const library = fileURLToPath(new URL('../../src/index.ts', import.meta.url))
const secret = 'secret-of-the-shop'

let desk: Desk
let shop: Server
let asked: string[] = []
let open: StdioClient[] = []
let gateways: HttpGateway[] = []

beforeEach(async () => {
  desk = new Desk()
  asked = []
  // A shop over HTTP that gives away the token it was asked with.
  shop = createServer((request, response) => {
    asked.push(request.url ?? '')
    const [, kind, id] = (request.url ?? '').split('/')
    const token = request.headers.authorization
    const found =
      kind === 'customers'
        ? { customer_id: id, active: true, token }
        : { order_id: id, customer_id: 'C-7', total: 30 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(found))
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  await Promise.all(open.map((each) => each.close()))
  await Promise.all(gateways.map((each) => each.stop()))
  open = []
  gateways = []
  shop.closeAllConnections()
  shop.close()
  desk.remove()
})

const args = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(
    names.map((name) => [name, name === 'amount' ? { type: 'number' } : { type: 'string' }]),
  ),
  required: names,
  additionalProperties: false,
})

/** The refund desk without an MCP server: two web services, a program and a module. */
function config(more: object = {}, pay = `fs.appendFileSync('paid.log', process.argv[1] + '\\n')`): string {
  const { port } = shop.address() as AddressInfo
  const http = [
    {
      name: 'lookup_customer',
      description: 'Looks a customer up.',
      risk: 'read',
      url: `http://127.0.0.1:${port}/customers/{args.customer_id}`,
      headers: { Authorization: 'Bearer env:SHOP' },
      input: args('customer_id'),
    },
    {
      name: 'lookup_order',
      description: 'Looks an order up.',
      risk: 'read',
      url: `http://127.0.0.1:${port}/orders/{args.order_id}`,
      input: args('order_id'),
    },
  ]
  const exec = [
    {
      name: 'refund',
      description: 'Pays money back.',
      command: [process.execPath, '-e', pay, '{args.order_id}'],
      input: args('order_id', 'customer_id', 'amount'),
    },
  ]
  writeFileSync(
    join(desk.folder, 'my-tools.ts'),
    `import { appendFileSync } from 'node:fs'
import { tool } from ${JSON.stringify(library)}
export const notify = tool({
  name: 'notify_customer',
  description: 'Sends a message.',
  risk: 'write',
  execute: ({ message }) => {
    appendFileSync(new URL('told.log', import.meta.url), message + '\\n')
    return { sent: true, by: process.env.SHOP, long: 'x'.repeat(100_000) }
  },
})
`,
  )
  const path = join(desk.folder, 'lockstep.config.yaml')
  writeFileSync(path, JSON.stringify({ tools: { http, exec, modules: ['./my-tools.ts'] }, ...more }))
  return path
}

const env = () => ({ SHOP: secret, LOCKSTEP_HOME: join(desk.folder, 'data') })
const command = (path: string) => [bin, 'mcp', '--playbook', desk.playbook, '--config', path]

async function connect(
  path: string,
  revision: Revision = '2025-11-25',
  ...flags: string[]
): Promise<StdioClient> {
  const client = await connectStdio([...command(path), ...flags], revision, env())
  open.push(client)
  return client
}

const lines = (file: string) => {
  const path = join(desk.folder, file)
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

describe.each(revisions)('a stock client that speaks %s, in front of a configuration', (revision) => {
  test('works through the playbook with web services, a program and a module', async () => {
    const { client, call, said, close } = await connect(config(), revision)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [...rightCalls.map(([tool]) => tool), 'complete_step', 'skip_step', 'fail_step', 'finish'].toSorted(),
    )
    expect(tools.find(({ name }) => name === 'refund')).toMatchObject({
      description: 'Pays money back.',
      inputSchema: { type: 'object', required: ['order_id', 'customer_id', 'amount'] },
    })
    const told: string[] = []
    for (const [tool, given] of rightCalls) told.push(textOf(await call(tool, given)))
    expect(told[0]).toContain('"token":"Bearer [secret]"')
    expect(told[0]).toContain('step 2 of 4, next: lookup_order')
    expect(told[3]).toContain('"by":"[secret]"')
    // A result is cut where its tool does not say otherwise, and what comes next is still told.
    expect(told[3]).toMatch(/\[cut: this has \d+ bytes, of which you see 65536\]/)
    expect(told[3]).toContain('all 4 steps are done, next: finish')
    expect(textOf(await call('finish', { message: 'Refunded.' }))).toContain('accepted')
    await close()
    expect(asked).toEqual(['/customers/C-7', '/orders/ORD-42'])
    expect([lines('paid.log'), lines('told.log')]).toEqual([['ORD-42'], ['Refunded.']])
    expect(told.join() + said() + JSON.stringify(desk.record)).not.toContain(secret)
    expect(said()).toContain('in front of 4 tools of the configuration')
    // What no server says is not pinned.
    expect(existsSync(join(desk.folder, 'lockstep.mcp.lock'))).toBe(false)
    expect(desk.record.find(({ type }) => type === 'gateway.opened')?.data).toMatchObject({
      servers: [],
      configured: ['lookup_customer', 'lookup_order', 'refund', 'notify_customer'],
    })
  })

  test('does not break out', async () => {
    const path = config()
    const more = JSON.parse(readFileSync(path, 'utf8')) as { tools: { exec: { name: string }[] } }
    more.tools.exec.push({ ...more.tools.exec[0]!, name: 'pay_anything' })
    writeFileSync(path, JSON.stringify(more))
    const { client, call } = await connect(path, revision)
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('pay_anything')
    expect(refusal(await call('pay_anything', rightCalls[2]![1]))).toMatchObject({
      executed: false,
      code: 'unexpected_tool',
    })
    expect(refusal(await call(...rightCalls[2]!))).toMatchObject({ executed: false, code: 'out_of_sequence' })
    expect(refusal(await call(...rightCalls[3]!))).toMatchObject({ executed: false, code: 'out_of_sequence' })
    expect(refusal(await call('lookup_customer', { customer: 7 }))).toMatchObject({
      code: 'invalid_arguments',
    })
    expect(refusal(await call('finish', {}))).toMatchObject({ code: 'finish_refused' })
    expect(asked).toEqual([])
    await call(...rightCalls[0]!)
    await call(...rightCalls[1]!)
    expect(refusal(await call('refund', { ...rightCalls[2]![1], amount: 31 }))).toMatchObject({
      code: 'rule',
    })
    const paid = await Promise.all([call(...rightCalls[2]!), call(...rightCalls[2]!)])
    expect(paid.map(({ isError }) => isError === true).toSorted()).toEqual([false, true])
    expect(lines('paid.log')).toEqual(['ORD-42'])
    expect(lines('told.log')).toEqual([])
  })
})

test('a program that fails may have paid, so nobody pays again', async () => {
  const { call } = await connect(config({}, `fs.appendFileSync('paid.log', 'x\\n'); process.exit(9)`))
  await call(...rightCalls[0]!)
  await call(...rightCalls[1]!)
  const failed = await call(...rightCalls[2]!)
  expect(failed.structuredContent).toMatchObject({ executed: true, outcome: 'unknown' })
  expect((await call(...rightCalls[2]!)).isError).toBe(true)
  expect(lines('paid.log')).toEqual(['x'])
})

test('a call in flight when the client leaves ends with it, and is recorded as unknown', async () => {
  const slow = `fs.appendFileSync('paid.log', 'begun\\n'); setTimeout(() => fs.appendFileSync('paid.log', 'done\\n'), 300_000)`
  const { call, close } = await connect(config({}, slow))
  await call(...rightCalls[0]!)
  await call(...rightCalls[1]!)
  const pending = call(...rightCalls[2]!).catch(() => null)
  await vi.waitFor(() => expect(lines('paid.log')).toEqual(['begun']), { timeout: 60_000 })
  await close()
  await pending
  await vi.waitFor(
    () => {
      const settled = desk.record.filter(({ type }) => type === 'tool.settled')
      expect(settled.at(-1)?.data).toMatchObject({ outcome: 'unknown' })
    },
    { timeout: 60_000 },
  )
  expect(lines('paid.log')).toEqual(['begun'])
})

test('serves servers and other tools of one configuration; only what servers say is pinned', async () => {
  const server = { command: process.execPath, args: [deskServer], env: { DESK_MODE: '' } }
  const text = readFileSync(desk.playbook, 'utf8').replaceAll('notify_customer', 'desk/notify_customer')
  writeFileSync(desk.playbook, text)
  const path = config({ mcpServers: { desk: server } })
  // A bare name that both have is not guessed.
  const ambiguous = await runLockstep(command(path).slice(1), { cwd: desk.folder, env: env() })
  expect(ambiguous).toMatchObject({
    code: 1,
    err: expect.stringContaining('could be lookup_customer or desk/lookup_customer'),
  })
  const whole = JSON.parse(readFileSync(path, 'utf8')) as {
    tools: { http: object[]; exec: object[]; modules: string[] }
  }
  whole.tools = { http: [], exec: whole.tools.exec.map((tool) => ({ ...tool, name: 'pay' })), modules: [] }
  writeFileSync(path, JSON.stringify(whole))
  writeFileSync(
    desk.playbook,
    text
      .replaceAll('refund"', 'pay"')
      .replaceAll('[refund]', '[pay]')
      .replaceAll('tool: refund', 'tool: pay'),
  )
  const { call, said } = await connect(path)
  await call(...rightCalls[0]!)
  await call(...rightCalls[1]!)
  expect(refusal(await call('refund', rightCalls[2]![1]))).toMatchObject({ code: 'unexpected_tool' })
  await call('pay', rightCalls[2]![1])
  expect((await call('desk__notify_customer', rightCalls[3]![1])).isError).not.toBe(true)
  expect(textOf(await call('finish'))).toContain('accepted')
  expect(lines('paid.log')).toEqual(['ORD-42'])
  expect(said()).toContain('1 tool of the configuration')
  const lock = readFileSync(join(desk.folder, 'lockstep.mcp.lock'), 'utf8')
  expect(lock).toContain('notify_customer')
  expect(lock).not.toContain('"pay"')
})

test('over HTTP each run calls with its own inputs, also after a restart', async () => {
  writeFileSync(
    desk.playbook,
    `id: greet
name: Greet
inputs: { who: { type: string, default: nobody } }
steps:
  - id: greet
    description: Greet.
    expected_tools: [greet]
    max_tool_calls: 3
`,
  )
  const path = join(desk.folder, 'lockstep.config.yaml')
  const greet = {
    name: 'greet',
    description: 'Greets.',
    command: [process.execPath, '-p', '"hello " + process.argv[1]', '{inputs.who}'],
  }
  writeFileSync(path, JSON.stringify({ tools: { exec: [{ ...greet, risk: 'read' }] } }))
  const start = async () => {
    const gateway = await HttpGateway.start(command(path), { ...env(), LOCKSTEP_MCP_TOKEN: 'token' })
    gateways.push(gateway)
    return { gateway, client: await gateway.connect('token', '2026-07-28') }
  }
  const begin = async (client: Client, inputs: object) => {
    const { structuredContent } = await client.callTool({ name: 'start_run', arguments: { inputs } })
    return (structuredContent as { run: string }).run
  }
  const say = async (client: Client, run: string) =>
    textOf((await client.callTool({ name: 'greet', arguments: { lockstep_run: run } })) as CallToolResult)
  const first = await start()
  const [ada, nobody] = [await begin(first.client, { who: 'Ada' }), await begin(first.client, {})]
  expect(await say(first.client, ada)).toContain('hello Ada')
  expect(await say(first.client, nobody)).toContain('hello nobody')
  await first.client.close()
  await first.gateway.stop()
  gateways = []
  const second = await start()
  expect(await say(second.client, ada)).toContain('hello Ada')
  await second.client.close()
})

test('says what there is nothing to serve from', async () => {
  const path = join(desk.folder, 'lockstep.config.yaml')
  writeFileSync(path, '{}')
  const ask = (...flags: string[]) =>
    runLockstep(['mcp', ...flags, '--playbook', desk.playbook, '--config', path], {
      cwd: desk.folder,
      env: env(),
    })
  expect(await ask()).toMatchObject({ code: 2, err: expect.stringContaining('neither tools nor mcpServers') })
  config()
  expect(await ask('lock')).toMatchObject({ code: 2, err: expect.stringContaining('no mcpServers') })
})
