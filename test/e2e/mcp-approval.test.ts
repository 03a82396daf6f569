import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  connectStdio,
  Desk,
  HttpGateway,
  refusal,
  revisions,
  rightCalls,
  textOf,
  type Person,
  type Revision,
} from '../mcp/gateway-process.ts'
import { runLockstep } from './run-lockstep.ts'

const me = userInfo().username
const tokens = { ADA_TOKEN: 'token-of-ada' }
const refund = rightCalls[2]!

let desk: Desk
let open: { close: () => Promise<void> }[] = []
let gateways: HttpGateway[] = []

beforeEach(() => {
  desk = new Desk()
  const harmless = { lookup_customer: 'read', lookup_order: 'read', notify_customer: 'write' }
  const tools = Object.entries(harmless).map(([name, risk]) => [name, { risk }])
  desk.behave('', { tools: Object.fromEntries(tools) })
  writeFileSync(join(desk.folder, 'callers.json'), JSON.stringify({ ada: 'env:ADA_TOKEN' }))
})

afterEach(async () => {
  await Promise.all(open.map((each) => each.close()))
  await Promise.all(gateways.map((each) => each.stop()))
  open = []
  gateways = []
  desk.remove()
})

/** Writes a policy that asks for an approval of refunds; the other tools of the desk are declared to be harmless. */
function policy(fields: Record<string, unknown>, name = 'money'): string[] {
  const path = join(desk.folder, `${name}.yaml`)
  const { allow_self_approval = false, ...approval } = fields
  const approvals = [{ tool: 'refund', ...approval }]
  writeFileSync(path, JSON.stringify({ id: name, allow_self_approval, approvals }))
  return ['--policy', path]
}

/** Lets the user who runs these tests, and a caller of the same name, have a role. */
function people(roles: Record<string, string[]>): void {
  writeFileSync(join(desk.folder, 'lockstep.config.yaml'), JSON.stringify({ people: roles }))
}

type Call = (tool: string, args?: Record<string, unknown>) => Promise<CallToolResult>

async function overStdio(flags: string[], revision: Revision, person: Person | null = null) {
  const connected = await connectStdio(desk.command('--run', 'the-run', ...flags), revision, {}, person)
  open.push(connected)
  return connected
}

async function overHttp(flags: string[]) {
  const command = desk.command('--callers', join(desk.folder, 'callers.json'), ...flags)
  const gateway = await HttpGateway.start(command, tokens)
  gateways.push(gateway)
  return gateway
}

async function asAda(
  gateway: HttpGateway,
  revision: Revision,
  person: Person | null = null,
): Promise<Client> {
  const client = await gateway.connect(tokens.ADA_TOKEN, revision, person)
  open.push(client)
  return client
}

async function runOf(client: Client): Promise<Call> {
  const { structuredContent } = await client.callTool({ name: 'start_run', arguments: {} })
  return callsOf(client, (structuredContent as { run: string }).run)
}

const callsOf =
  (client: Client, run: string): Call =>
  (name, args = {}) =>
    client.callTool({ name, arguments: { ...args, lockstep_run: run } })

async function upToRefund(call: Call): Promise<void> {
  for (const [tool, args] of rightCalls.slice(0, 2)) await call(tool, args)
}

const approval = (result: CallToolResult) => refusal(result)['approval'] as { id: string; command: string }

/** What a person types elsewhere. */
async function lockstep(...args: string[]) {
  return await runLockstep(args, { cwd: desk.folder, env: { LOCKSTEP_HOME: join(desk.folder, 'data') } })
}

const events = (type: string) => desk.record.filter((entry) => entry.type === type)

describe.each(revisions)('a stock client that speaks %s', (revision) => {
  test('is told over stdio what waits, and makes the call once it is approved elsewhere', async () => {
    const flags = policy({ allow_self_approval: true })
    const { call, said } = await overStdio(flags, revision)
    await upToRefund(call)
    const pending = refusal(await call(...refund))
    expect(pending).toMatchObject({
      executed: false,
      code: 'pending',
      approval: { tool: 'refund', arguments: refund[1], id: expect.stringMatching(/^a_[0-9a-f]{8}$/) },
    })
    const { id, command } = pending['approval'] as { id: string; command: string }
    expect(command).toBe(`LOCKSTEP_HOME=${join(desk.folder, 'data')} npx lockstep approve ${id}`)
    expect(pending['message']).toContain(command)
    expect(pending['message']).toContain('send the same call again')
    expect(refusal(await call(...refund))).toMatchObject({ code: 'pending', approval: { id } })
    expect(events('tool.held')).toHaveLength(1)
    expect(refusal(await call('finish'))['message']).toContain('calls wait for approval: refund')
    expect(await lockstep('approve', id, '--reason', 'checked')).toMatchObject({ code: 0 })
    expect(textOf(await call(...refund))).toContain('step 4 of 4')
    expect(desk.done.filter((name) => name === 'refund')).toHaveLength(1)
    expect(events('approval.voted')[0]?.data).toMatchObject({
      comesTo: 'granted',
      vote: { person: me, identity: 'local', answer: 'approve', reason: 'checked' },
    })
    expect(said()).toContain('under money@1.0.0')
  })

  test('over HTTP the caller is known by its key, and cannot approve; somebody else can', async () => {
    people({ [me]: ['Lead'] })
    const gateway = await overHttp(policy({ required_roles: ['Lead'] }))
    const call = await runOf(await asAda(gateway, revision))
    await upToRefund(call)
    const { id } = approval(await call(...refund))
    expect(events('tool.held')[0]).toMatchObject({
      principal: 'ada',
      data: { policy: { facts: { principal: { id: 'ada', kind: 'apikey' } } } },
    })
    expect((await lockstep('approve', id)).code).toBe(0)
    expect((await call(...refund)).isError).not.toBe(true)
    expect(desk.done.filter((name) => name === 'refund')).toHaveLength(1)
  })

  test('waits on when somebody without the role approves', async () => {
    people({ [me]: ['Clerk'] })
    const gateway = await overHttp(policy({ required_roles: ['Lead'] }))
    const call = await runOf(await asAda(gateway, revision))
    await upToRefund(call)
    await lockstep('approve', approval(await call(...refund)).id)
    const told = refusal(await call(...refund))
    expect(told['code']).toBe('pending')
    expect(told['message']).toContain(`What ${me} (local) said does not count: it takes the role Lead`)
    expect(desk.done).not.toContain('refund')
  })

  test('is refused what was denied, with by whom and why', async () => {
    const gateway = await overHttp(policy({}))
    const call = await runOf(await asAda(gateway, revision))
    await upToRefund(call)
    const { id } = approval(await call(...refund))
    expect((await lockstep('deny', id, '--reason', 'not our customer')).code).toBe(0)
    for (let time = 1; time <= 2; time++) {
      expect(refusal(await call(...refund))).toMatchObject({
        executed: false,
        code: 'approval_denied',
        message: expect.stringContaining(`${me} (local) denied it: not our customer`),
      })
    }
    expect(desk.done).not.toContain('refund')
  })

  test('is told that nobody came in time', async () => {
    const { call } = await overStdio(policy({ allow_self_approval: true, expires_after: '2s' }), revision)
    await upToRefund(call)
    const { id } = approval(await call(...refund))
    await lockstep('approve', id)
    await sleep(2100)
    expect(refusal(await call(...refund))).toMatchObject({
      code: 'approval_expired',
      message: expect.stringContaining('nobody denied it'),
    })
    expect(desk.done).not.toContain('refund')
    expect(approval(await call(...refund)).id).not.toBe(id)
  })

  test('cannot be the one who approves, unless the policy says so', async () => {
    const { call } = await overStdio(policy({}), revision, () => {
      throw new Error('nobody is to be asked')
    })
    await upToRefund(call)
    const { id } = approval(await call(...refund))
    await lockstep('approve', id)
    const told = refusal(await call(...refund))
    expect(told).toMatchObject({ code: 'pending', approval: { id } })
    expect(told['message']).toContain(`${me} (local) said does not count: whoever asks cannot approve`)
    expect(events('gateway.vote_refused')).toHaveLength(1)
    expect(desk.done).not.toContain('refund')
  })

  test('holds two calls at once, and an approval is for the one with its arguments', async () => {
    writeFileSync(desk.playbook, twice)
    const { call } = await overStdio(policy({ allow_self_approval: true }), revision)
    const [one, two] = [
      { ...refund[1], amount: 10 },
      { ...refund[1], amount: 20 },
    ]
    const [first, second] = await Promise.all([call('refund', one), call('refund', two)])
    expect(approval(first!).id).not.toBe(approval(second!).id)
    await lockstep('approve', approval(second!).id)
    expect(refusal(await call('refund', one))).toMatchObject({ code: 'pending' })
    expect((await call('refund', two)).isError).not.toBe(true)
    expect(events('tool.admitted').map(({ data }) => data['args'])).toEqual([two])
    expect(events('tool.held')).toHaveLength(2)
  })

  test('finds what waits again after the gateway was started anew, under the policies of now', async () => {
    const flags = policy({ allow_self_approval: true })
    const before = await overStdio(flags, revision)
    await upToRefund(before.call)
    const { id } = approval(await before.call(...refund))
    before.crash()
    await before.close()
    expect((await lockstep('approvals')).out).toContain(id)
    await lockstep('approve', id)
    const freeze = join(desk.folder, 'freeze.yaml')
    writeFileSync(
      freeze,
      JSON.stringify({ id: 'freeze', rules: [{ tool: 'refund', require: 'args.amount < 1' }] }),
    )
    const frozen = await overStdio([...flags, '--policy', freeze], revision)
    expect(refusal(await frozen.call(...refund))).toMatchObject({ executed: false, code: 'policy' })
    expect(desk.done).not.toContain('refund')
    await frozen.close()
    const after = await overStdio(flags, revision)
    const again = approval(await after.call(...refund))
    expect(again.id).not.toBe(id)
    await after.close()
    await lockstep('approve', again.id)
    const last = await overStdio(flags, revision)
    expect((await last.call(...refund)).isError).not.toBe(true)
    expect(desk.done.filter((name) => name === 'refund')).toHaveLength(1)
  })

  test('a policy binds also where the playbook is only observed', async () => {
    const { call } = await overStdio([...policy({ allow_self_approval: true }), '--observe'], revision)
    const { id } = approval(await call(...refund))
    expect(desk.done).toEqual([])
    await lockstep('approve', id)
    expect((await call(...refund)).isError).not.toBe(true)
    expect(desk.done).toEqual(['refund'])
  })
})

const asserted = { allow_self_approval: true, identity: ['asserted'] }

describe('the person at a client', () => {
  test('is asked by a client of 2026-07-28 with the call, the rule and the reason, and the answer is a vote', async () => {
    const asked: string[] = []
    const { call } = await overStdio(policy(asserted), '2026-07-28', (message) => {
      asked.push(message)
      return { action: 'accept', content: { answer: 'approve', reason: 'go on' } }
    })
    await upToRefund(call)
    expect((await call(...refund)).isError).not.toBe(true)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain('refund waits for approval (a_')
    expect(asked[0]).toContain(JSON.stringify(refund[1].order_id))
    expect(asked[0]).toMatch(/Rule: .* of money@1\.0\.0: ./)
    expect(events('approval.voted')[0]?.data).toMatchObject({
      comesTo: 'granted',
      vote: { person: me, identity: 'asserted', answer: 'approve', reason: 'go on' },
    })
    expect(desk.done.filter((name) => name === 'refund')).toHaveLength(1)
  })

  test('says no, over HTTP, and that is that', async () => {
    const gateway = await overHttp(policy(asserted))
    const answers: Person = () => ({ action: 'accept', content: { answer: 'deny', reason: 'too much' } })
    const call = await runOf(await asAda(gateway, '2026-07-28', answers))
    await upToRefund(call)
    expect(refusal(await call(...refund))).toMatchObject({
      code: 'approval_denied',
      message: expect.stringContaining('ada (asserted) denied it: too much'),
    })
    expect(desk.done).not.toContain('refund')
  })

  test('pushes the form away: nothing is decided, nothing hangs, and it is asked again next time', async () => {
    const actions = ['cancel', 'accept', 'decline'] as const
    let time = 0
    const { call } = await overStdio(policy(asserted), '2026-07-28', () => ({ action: actions[time++]! }))
    await upToRefund(call)
    const { id } = approval(await call(...refund))
    // Accepting a form without filling it in says nothing.
    expect(approval(await call(...refund)).id).toBe(id)
    expect(events('approval.voted')).toHaveLength(0)
    expect(refusal(await call(...refund))).toMatchObject({ code: 'approval_denied' })
    expect(time).toBe(3)
  })

  test('is one of two that it takes: their yes counts, and the other one is waited for', async () => {
    const both = { ...asserted, identity: ['asserted', 'local'], count: 2 }
    let time = 0
    const gateway = await overHttp(policy(both))
    const call = await runOf(
      await asAda(gateway, '2026-07-28', () => {
        time++
        return { action: 'accept', content: { answer: 'approve' } }
      }),
    )
    await upToRefund(call)
    const told = await call(...refund)
    expect(refusal(told)).toMatchObject({ code: 'pending', approval: { votes: ['ada (asserted): approve'] } })
    expect(refusal(await call(...refund))).toMatchObject({ code: 'pending' })
    expect(time).toBe(1)
    await lockstep('approve', approval(told).id)
    expect((await call(...refund)).isError).not.toBe(true)
  })

  const agrees: Person = () => ({ action: 'accept', content: { answer: 'approve' } })
  test.each([
    ['speaks 2025-11-25', '2025-11-25', agrees],
    ['cannot show a form', '2026-07-28', null],
  ] as const)('is not asked where the client %s', async (_, revision, person) => {
    const { call } = await overStdio(policy(asserted), revision, person)
    await upToRefund(call)
    expect(refusal(await call(...refund))).toMatchObject({ code: 'pending' })
    expect(desk.done).not.toContain('refund')
  })

  test('answers for a call that nobody asked about, and is not heard', async () => {
    const { client, call } = await overStdio(policy({}), '2026-07-28', () => ({ action: 'cancel' }))
    await upToRefund(call)
    const { id } = approval(await call(...refund))
    const inputResponses = { [id]: { action: 'accept', content: { answer: 'approve' } } }
    const params = { name: 'refund', arguments: refund[1], inputResponses }
    const result = await client.request({ method: 'tools/call', params })
    expect(refusal(result as CallToolResult)).toMatchObject({ code: 'pending' })
    expect(events('approval.voted')).toHaveLength(0)
  })
})

test('says at the start what is wrong with a policy, and that nobody could approve', async () => {
  const path = join(desk.folder, 'bad.yaml')
  writeFileSync(path, 'id: bad\naprovals: []\n')
  const command = desk.command('--policy', path).slice(1)
  const refused = await runLockstep(command, { cwd: desk.folder })
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('aprovals')
  const { said } = await overStdio(policy({ required_roles: ['Lead'] }), '2025-11-25')
  expect(said()).toContain('NOBODY CAN APPROVE: refund needs the approval of 1 × Lead')
})

const twice = JSON.stringify({
  id: 'twice',
  name: 'Twice',
  steps: [
    {
      id: 'pay',
      description: 'Pay twice.',
      expected_tools: ['refund'],
      max_tool_calls: 2,
      validation: { min_tool_calls: 2 },
    },
  ],
})
