import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMcpTools } from '../../src/adapter/mcp/create-mcp-tools.ts'
import {
  Desk,
  HttpGateway,
  refusal,
  revisions,
  rightCalls,
  textOf,
  type Revision,
} from '../mcp/gateway-process.ts'

const tokens = { ADA_TOKEN: 'token-of-ada', BOB_TOKEN: 'token-of-bob' }

let desk: Desk
let gateway: HttpGateway
let clients: Client[] = []

beforeEach(async () => {
  desk = new Desk()
  writeFileSync(
    join(desk.folder, 'callers.json'),
    JSON.stringify({ ada: 'env:ADA_TOKEN', bob: 'env:BOB_TOKEN' }),
  )
  await start()
})

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  clients = []
  await gateway.stop()
  desk.remove()
})

async function start(): Promise<void> {
  const command = desk.command('--callers', join(desk.folder, 'callers.json'))
  gateway = await HttpGateway.start(command, tokens)
}

async function connect(token: string, revision: Revision = '2026-07-28'): Promise<Client> {
  const client = await gateway.connect(token, revision)
  clients.push(client)
  return client
}

async function begin(client: Client): Promise<string> {
  const { structuredContent } = await client.callTool({ name: 'start_run', arguments: {} })
  return (structuredContent as { run: string }).run
}

function call(client: Client, run: string, tool: string, args: object = {}): Promise<CallToolResult> {
  return client.callTool({ name: tool, arguments: { ...args, lockstep_run: run } })
}

describe.each(revisions)('a stock client that speaks %s over HTTP', (revision) => {
  test('works through a run that every call names, also after it reconnects', async () => {
    const first = await connect(tokens.ADA_TOKEN, revision)
    const { tools } = await first.listTools()
    expect(tools[0]?.name).toBe('start_run')
    for (const tool of tools.slice(1)) expect(tool.inputSchema.required).toContain('lockstep_run')
    const run = await begin(first)
    expect(textOf(await call(first, run, ...rightCalls[0]!))).toContain('step 2 of 4')
    await first.close()
    // A new connection resumes the run, and so does a new process.
    const second = await connect(tokens.ADA_TOKEN, revision)
    expect(textOf(await call(second, run, ...rightCalls[1]!))).toContain('step 3 of 4')
    await gateway.stop()
    await start()
    const third = await connect(tokens.ADA_TOKEN, revision)
    expect(refusal(await call(third, run, 'finish'))).toMatchObject({ code: 'finish_refused' })
    await call(third, run, ...rightCalls[2]!)
    expect(refusal(await call(third, run, ...rightCalls[2]!))).toMatchObject({ executed: false })
    await call(third, run, ...rightCalls[3]!)
    expect(textOf(await call(third, run, 'finish'))).toContain('accepted')
    expect(desk.done).toEqual(rightCalls.map(([tool]) => tool))
    const { contents } = await third.readResource({ uri: `lockstep://plan/${run}` })
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ run, status: 'succeeded' })
    expect(desk.record.every(({ principal }) => principal === 'ada')).toBe(true)
  })
})

test('runs are not shared: not between clients, and not between callers', async () => {
  const [ada, bob] = [await connect(tokens.ADA_TOKEN), await connect(tokens.BOB_TOKEN, '2025-11-25')]
  const [hers, his] = [await begin(ada), await begin(bob)]
  expect(hers).not.toBe(his)
  await call(ada, hers, ...rightCalls[0]!)
  // Same tools, another run: it stands where it stood.
  expect(refusal(await call(bob, his, ...rightCalls[1]!))).toMatchObject({ code: 'out_of_sequence' })
  // Another caller's handle is answered like one that never existed, before and after a restart.
  const never = await call(bob, 'r_00000000-0000-0000-0000-000000000000', ...rightCalls[1]!)
  expect(await call(bob, hers, ...rightCalls[1]!)).toEqual(never)
  expect(refusal(never)).toMatchObject({ executed: false, code: 'no_run' })
  await expect(bob.readResource({ uri: `lockstep://plan/${hers}` })).rejects.toThrow()
  await gateway.stop()
  await start()
  const again = await connect(tokens.BOB_TOKEN)
  expect(refusal(await call(again, hers, ...rightCalls[1]!))).toMatchObject({ code: 'no_run' })
  expect(refusal(await call(again, '../callers', ...rightCalls[1]!))).toMatchObject({ code: 'no_run' })
  expect(refusal(await again.callTool({ name: 'lookup_order', arguments: rightCalls[1]![1] }))).toMatchObject(
    {
      code: 'no_run',
      message: expect.stringContaining('start_run'),
    },
  )
  expect(desk.done).toEqual(['lookup_customer'])
})

test('answers nobody it does not know, no page of a browser, and no other path', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const ask = async (more: Record<string, string>, url = gateway.url) =>
    (await fetch(url, { method: 'POST', body, headers: { ...headers, ...more } })).status
  expect(await ask({})).toBe(401)
  expect(await ask({ authorization: 'Bearer wrong' })).toBe(401)
  expect(await ask({ authorization: tokens.ADA_TOKEN })).toBe(401)
  const ada = { authorization: `Bearer ${tokens.ADA_TOKEN}` }
  expect(await ask({ ...ada, origin: 'https://evil.example' })).toBe(403)
  expect(await ask(ada, gateway.url.replace('/mcp', '/other'))).toBe(404)
  // What is no request at all takes nobody down.
  const { port } = new URL(gateway.url)
  const socket = createConnection(Number(port), '127.0.0.1')
  socket.write('POST /mcp HTTP/1.1\r\nHost: [not a host\r\nContent-Length: 0\r\n\r\n')
  await once(socket, 'close')
  for (let again = 0; again < 15; again++) expect(await ask(ada)).toBe(200)
  expect(gateway.said).not.toContain('MaxListeners')
  expect(gateway.said).not.toContain(tokens.ADA_TOKEN)
})

test('is a server like any other to its own client, which reaches it over HTTP', async () => {
  const headers = { authorization: `Bearer ${tokens.ADA_TOKEN}` }
  const far = { url: gateway.url, headers, tools: { start_run: { risk: 'read' as const } } }
  const { tools, servers, close } = await createMcpTools({ far })
  try {
    expect(servers).toEqual([{ name: 'far', revision: '2026-07-28' }])
    const starter = tools.find(({ name }) => name === 'far/start_run')
    const context = { signal: new AbortController().signal, idempotencyKey: 'k' }
    expect(await starter?.execute({}, context)).toEqual({ run: expect.stringMatching(/^r_/) })
    const refund = tools.find(({ name }) => name === 'far/refund')
    await expect(refund?.execute({}, context)).rejects.toThrow("The MCP server 'far' reports an error")
    await gateway.stop()
    await expect(refund?.execute({}, context)).rejects.toThrow("'far'")
  } finally {
    await close()
    await start()
  }
})
