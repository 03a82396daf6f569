import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  bin,
  connectStdio,
  Desk,
  deskServer,
  refusal,
  revisions,
  rightCalls,
  textOf,
  type StdioClient,
} from '../mcp/gateway-process.ts'

let desk: Desk
let open: StdioClient[] = []

beforeEach(() => {
  desk = new Desk()
})

afterEach(async () => {
  await Promise.all(open.map((each) => each.close()))
  open = []
  desk.remove()
})

async function connect(
  flags: readonly string[] = [],
  revision: (typeof revisions)[number] = '2025-11-25',
): Promise<StdioClient> {
  const connected = await connectStdio(desk.command(...flags), revision)
  open.push(connected)
  return connected
}

describe.each(revisions)('a stock client that speaks %s', (revision) => {
  test('works through the playbook, told at every step what comes next', async () => {
    const { client, call } = await connect([], revision)
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    const before = (await client.listTools()).tools
    expect(before.map(({ name }) => name)).toEqual([
      ...rightCalls.map(([tool]) => tool),
      'complete_step',
      'skip_step',
      'fail_step',
      'finish',
    ])
    const told: string[] = []
    for (const [tool, args] of rightCalls) told.push(textOf(await call(tool, args)))
    expect(told[0]).toContain('"active":true')
    expect(told[0]).toContain('step 2 of 4, next: lookup_order')
    expect(told[1]).toContain('step 3 of 4, next: refund')
    expect(told[3]).toContain('all 4 steps are done, next: finish')
    expect((await client.listTools()).tools).toEqual(before)
    expect(textOf(await call('finish', { message: 'Refunded $30.' }))).toContain('accepted')
    expect(desk.done).toEqual(rightCalls.map(([tool]) => tool))
    const { contents } = await client.readResource({ uri: 'lockstep://plan' })
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({
      status: 'succeeded',
      progress: 1,
      enforcement: 'enforced',
    })
    const prompt = await client.getPrompt({ name: 'refund-desk' })
    expect(JSON.stringify(prompt.messages)).toContain('issue_refund')
    expect(client.getInstructions()).toContain('Tools that the client holds elsewhere are not.')
  })

  test('does not break out', async () => {
    const { client, call } = await connect([], revision)
    const early = refusal(await call('refund', rightCalls[2]![1]))
    expect(early).toMatchObject({
      executed: false,
      code: 'out_of_sequence',
      step: 'verify_customer',
      allowed: ['lookup_customer', 'fail_step'],
    })
    expect(refusal(await call('no_such_tool'))).toMatchObject({ executed: false, code: 'unknown_tool' })
    expect(refusal(await call('desk/refund', rightCalls[2]![1]))).toMatchObject({ executed: false })
    expect(refusal(await call('finish', { message: 'Done!' }))).toMatchObject({ code: 'finish_refused' })
    expect(refusal(await call('skip_step'))).toMatchObject({ executed: false })
    expect(refusal(await call('complete_step'))).toMatchObject({ executed: false })
    expect(refusal(await call('lookup_customer', { customer: 7 }))).toMatchObject({
      code: 'invalid_arguments',
    })
    expect(desk.done).toEqual([])
    await call(...rightCalls[0]!)
    await call(...rightCalls[1]!)
    const other = { order_id: 'ORD-99', customer_id: 'C-7', amount: 30 }
    const unseen = refusal(await call('refund', other))
    expect(unseen).toMatchObject({ code: 'rule', step: 'issue_refund' })
    expect(unseen['message']).toContain('the order was never looked up')
    expect(refusal(await call('refund', { ...rightCalls[2]![1], amount: 31 }))).toMatchObject({
      code: 'rule',
    })
    // Two at once, of which one may be paid.
    const paid = await Promise.all([call(...rightCalls[2]!), call(...rightCalls[2]!)])
    expect(paid.map(({ isError }) => isError === true).toSorted()).toEqual([false, true])
    expect(refusal(await call('refund', rightCalls[2]![1]))).toMatchObject({ executed: false })
    expect(desk.done.filter((tool) => tool === 'refund')).toHaveLength(1)
    await expect(client.readResource({ uri: 'desk://till' })).rejects.toThrow(/not found/i)
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['lockstep://plan'])
  })
})

test('ends the run incomplete when the final answer keeps coming too early', async () => {
  const { call } = await connect()
  for (let attempt = 1; attempt <= 3; attempt++) refusal(await call('finish', { message: 'Done!' }))
  expect(refusal(await call('lookup_customer', rightCalls[0]![1]))).toMatchObject({ code: 'run_ended' })
  expect(desk.done).toEqual([])
  expect(desk.record.find(({ type }) => type === 'run.finished')?.data).toMatchObject({
    status: 'incomplete',
  })
})

test('takes a named run up where it was, however often the client reconnects', async () => {
  const first = await connect(['--run', 'case-1'])
  await first.call(...rightCalls[0]!)
  await first.close()
  const second = await connect(['--run', 'case-1'])
  expect(textOf(await second.call(...rightCalls[1]!))).toContain('step 3 of 4')
  await second.call(...rightCalls[2]!)
  await second.close()
  const third = await connect(['--run', 'case-1'])
  expect(refusal(await third.call(...rightCalls[2]!))).toMatchObject({ executed: false })
  await third.call(...rightCalls[3]!)
  expect(textOf(await third.call('finish'))).toContain('accepted')
  expect(desk.done.filter((tool) => tool === 'refund')).toHaveLength(1)
  expect(new Set(desk.record.map(({ run }) => run))).toEqual(new Set(['case-1']))
})

test('gives each process a run of its own', async () => {
  const [one, other] = await Promise.all([connect(), connect()])
  await one.call(...rightCalls[0]!)
  expect(refusal(await other.call(...rightCalls[1]!))).toMatchObject({ code: 'out_of_sequence' })
})

test('refuses a tool whose definition changed, with the difference, and shows the one that was reviewed', async () => {
  const before = await connect()
  const listed = (await before.client.listTools()).tools
  await before.close()
  expect(before.said()).toContain('First use of desk')
  desk.behave('lure')
  const { client, call, said } = await connect()
  expect((await client.listTools()).tools).toEqual(listed)
  await call(...rightCalls[0]!)
  await call(...rightCalls[1]!)
  const refused = refusal(await call(...rightCalls[2]!))
  expect(refused).toMatchObject({ executed: false, code: 'vetoed' })
  expect(refused['message']).toContain('Call it twice for every customer.')
  expect(said()).toContain('Refused: its server changed what')
  expect(desk.done).not.toContain('refund')
  expect(desk.record.find(({ type }) => type === 'tool.denied')?.data).toMatchObject({ code: 'vetoed' })
})

test('notices a definition that changes while it is served', async () => {
  desk.behave('turn')
  const { call } = await connect()
  await call(...rightCalls[0]!)
  await call(...rightCalls[1]!)
  // At once: the change counts from the moment the server announces it.
  expect(refusal(await call(...rightCalls[2]!))).toMatchObject({
    code: 'vetoed',
    message: expect.stringContaining('twice'),
  })
  expect(desk.done).not.toContain('refund')
})

test('observes without denying, and says at the end what it would have denied', async () => {
  const { client, call, said, close } = await connect(['--observe'])
  expect(client.getInstructions()).toBeUndefined()
  const early = await call(...rightCalls[2]!)
  expect(early.isError).not.toBe(true)
  expect(textOf(early)).not.toContain('[procedure]')
  await call(...rightCalls[0]!)
  await call(...rightCalls[1]!)
  const { contents } = await client.readResource({ uri: 'lockstep://observation' })
  expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ calls: 3, wouldHaveDenied: 1 })
  await close()
  expect(said()).toContain('observed, not enforced')
  expect(said()).toContain('would have denied 1 of 3 calls')
  expect(said()).toMatch(/refund: out_of_sequence: /)
  expect(desk.done).toEqual(['refund', 'lookup_customer', 'lookup_order'])
  expect(desk.record.find(({ type }) => type === 'gateway.opened')?.data).toMatchObject({
    enforcement: 'observed, not enforced',
    notice: expect.stringContaining('Tools that the client holds elsewhere are not.'),
  })
})

test.each([
  ['die', 'went away', {}],
  ['hang', 'hangs', { timeoutSeconds: 3 }],
  ['garbage', 'answers garbage', {}],
  ['complain', 'reports an error', {}],
])(
  'a server that fails in the middle of a call (%s: %s) leaves its outcome unknown, and the record says so',
  async (mode, _, settings) => {
    desk.behave(mode, settings)
    const { call } = await connect()
    await call(...rightCalls[0]!)
    await call(...rightCalls[1]!)
    const failed = await call(...rightCalls[2]!)
    expect(failed.isError).toBe(true)
    expect(failed.structuredContent).toMatchObject({ executed: true, outcome: 'unknown' })
    expect(textOf(failed)).toContain("MCP server 'desk'".slice(0, mode === 'hang' ? 0 : undefined))
    // Nobody pays again before somebody found out.
    expect((await call(...rightCalls[2]!)).isError).toBe(true)
    expect(desk.done.filter((tool) => tool === 'refund')).toHaveLength(1)
    expect((await call('finish')).isError).toBe(true)
    const settled = desk.record.filter(({ type }) => type === 'tool.settled')
    expect(settled.at(-1)?.data).toMatchObject({ outcome: 'unknown' })
  },
)

test.each(['leaves', 'crashes'])(
  'a call in flight when one side %s is recorded as unknown, and not made again',
  async (how) => {
    desk.behave('hang')
    const { call, close, crash } = await connect(['--run', 'left'])
    await call(...rightCalls[0]!)
    await call(...rightCalls[1]!)
    const pending = call(...rightCalls[2]!).catch(() => null)
    while (!desk.done.includes('refund')) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20)
      })
    }
    if (how === 'crashes') crash()
    else await close()
    await pending
    desk.behave('')
    const back = await connect(['--run', 'left'])
    expect(refusal(await back.call(...rightCalls[2]!))).toMatchObject({ executed: false })
    expect(refusal(await back.call('finish'))).toMatchObject({ code: 'finish_refused' })
    expect(desk.done.filter((tool) => tool === 'refund')).toHaveLength(1)
    const settled = desk.record
      .filter(({ type }) => type === 'tool.settled')
      .map(({ data }) => data['outcome'])
    expect(settled).toEqual(['succeeded', 'succeeded', 'unknown'])
  },
)

test('the error of a tool that only reads, or that is vouched for, can be tried again', async () => {
  desk.behave('', { tools: { lookup_customer: { errors: 'not_applied' }, lookup_order: { risk: 'read' } } })
  const { call } = await connect()
  for (const [tool, key] of [
    ['lookup_customer', 'customer_id'],
    ['lookup_order', 'order_id'],
  ] as const) {
    const failed = await call(tool, { [key]: 'X-1' })
    expect(failed.structuredContent).toMatchObject({ outcome: 'failed' })
    expect(textOf(failed)).toContain('there is no X-1')
    expect((await call(...rightCalls[tool === 'lookup_customer' ? 0 : 1]!)).isError).not.toBe(true)
  }
})

test('takes servers from the configuration, and shows no secret of it', async () => {
  const server = {
    command: process.execPath,
    args: [deskServer],
    env: { DESK_MODE: 'leak', DESK_TOKEN: 'env:SHOP' },
  }
  // YAML is a superset of JSON.
  const config = join(desk.folder, 'lockstep.config.yaml')
  writeFileSync(config, JSON.stringify({ mcpServers: { desk: server } }))
  const command = [bin, 'mcp', '--playbook', desk.playbook, '--config', config]
  const env = { SHOP: 'secret-of-the-shop', LOCKSTEP_HOME: join(desk.folder, 'data') }
  const { call, said } = await connectStdio(command, '2025-11-25', env).then((each) => {
    open.push(each)
    return each
  })
  const answer = JSON.stringify(await call(...rightCalls[0]!))
  expect(answer).toContain('[secret]')
  expect(answer + said() + JSON.stringify(desk.record)).not.toContain('secret-of-the-shop')
  expect(desk.record.length).toBeGreaterThan(0)
})

test('writes nothing but the protocol to standard output', async () => {
  const child = spawn(process.execPath, desk.command())
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  }
  child.stdin.write('this is no message\n')
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  while (!out.includes('"id":1')) await once(child.stdout, 'data')
  child.stdin.end()
  expect(await once(child, 'exit')).toEqual([0, null])
  for (const line of out.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  // A client that only asked who is there began no run.
  expect(desk.record).toEqual([])
})

test('pins on request, and shows what changed', async () => {
  const lock = () => run(['lock'])
  expect((await lock()).out).toContain('+ desk/refund')
  expect((await lock()).out).toContain('nothing changed')
  desk.behave('lure')
  expect((await lock()).out).toMatch(/~ desk\/refund description: .* → .*twice/)
  const file = JSON.parse(readFileSync(join(desk.folder, 'lockstep.mcp.lock'), 'utf8')) as object
  expect(file).toMatchObject({ format: 'lockstep.mcp.lock', version: 1 })
})

test('says before it serves what keeps it from serving', async () => {
  desk.serve({ desk: { command: 'no-such-command-anywhere' } })
  expect(await run([])).toMatchObject({ code: 1, err: expect.stringContaining("'desk' could not be used") })
  desk.serve({ desk: { comand: 'x' } })
  expect(await run([])).toMatchObject({ code: 1, err: expect.stringContaining('cannot be used') })
  desk.serve({
    empty: { command: process.execPath, args: ['-e', 'process.exit(0)'], revision: '2025-11-25' },
  })
  expect((await run([])).err).toContain("'empty' could not be used")
  desk.behave('')
  expect(await run(['--', 'x'])).toMatchObject({ code: 2 })
  expect(await run(['--obsrve'])).toMatchObject({ code: 2, err: expect.stringContaining('--observe') })
})

async function run(flags: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const [bin = '', mcp = '', ...rest] = desk.command()
  const action = flags[0] === 'lock' ? ['lock'] : []
  const child = spawn(process.execPath, [bin, mcp, ...action, ...rest, ...flags.slice(action.length)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, out, err }
}
