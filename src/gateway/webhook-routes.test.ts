import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { publishSamples } from '../platform/samples.ts'
import { checkSignature, signBody } from '../webhook/signature.ts'
import { systemActor } from '../directory/principal.ts'
import { makePlatformHome, openTrialServer, until, type PlatformHome } from './platform-home.suite.ts'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly raw: string
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test expects of it, the test says
  readonly body: any
}

const servers: Server[] = []
const homes: PlatformHome[] = []
afterEach(async () => {
  for (const home of homes.splice(0)) await home.remove()
})
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

function aHome(): PlatformHome {
  const home = makePlatformHome()
  homes.push(home)
  return home
}

/** A receiver that answers as it is told, and keeps what it is sent. */
async function receiver() {
  const received: Received[] = []
  const state = { status: 204 }
  const server = createServer((request, response) => {
    let raw = ''
    request.on('data', (part) => (raw += String(part)))
    request.on('end', () => {
      received.push({ headers: request.headers, raw, body: JSON.parse(raw) })
      response.writeHead(state.status).end()
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, received, state }
}

const events = ['approval.pending', 'approval.decided', 'approval.expired', 'run.finished']
const webhooks = { allowPrivate: true, timeoutSeconds: 10 }

describe('webhooks', () => {
  it('tell of approvals and ends of runs, signed, again until they are taken, also over a restart', async () => {
    const home = aHome()
    let ahead = 0
    const now = () => Date.now() + ahead
    const { url, received, state } = await receiver()
    const chat = await receiver()
    const first = await openTrialServer(home, { set: { webhooks }, now })
    expect((await first.send('POST /webhooks', 'SRE', { name: 'all', url, events })).status).toBe(403)
    const made = await first.send('POST /webhooks', 'Admin', { name: 'all', url, events })
    expect(made.status).toBe(201)
    const { webhook, secret } = made.body
    await first.send('POST /webhooks', 'Admin', {
      name: 'chat',
      url: chat.url,
      events: ['approval.pending'],
      template: 'slack',
    })
    state.status = 500
    const run = await publishSamples(first.platform)
    const [pending] = await until(async () => received.length > 0 && received)
    expect(pending!.body).toMatchObject({
      type: 'approval.pending',
      tenant: 'local',
      playbook: 'rollback-release',
      url: `http://lockstep.test/console/approvals/${pending!.body.data.approval}`,
      data: { run, tool: 'practice.rollback', args: { service: 'web' }, state: 'waiting' },
    })
    expect(
      checkSignature(String(pending!.headers['lockstep-signature']), pending!.raw, secret, now()),
    ).toBeNull()
    const message = await until(async () => chat.received[0])
    expect(message.body).toMatchObject({
      text: 'practice.rollback of rollback-release waits for approval',
      blocks: [
        { type: 'section' },
        { type: 'actions', elements: [{ type: 'button', url: pending!.body.url }] },
      ],
    })
    const deliveries = async (server: typeof first) =>
      (await server.send(`GET /webhooks/${webhook.id}/deliveries`, 'Admin')).body.items
    await until(async () => (await deliveries(first))[0]?.attempts === 1)
    expect(await deliveries(first)).toMatchObject([
      {
        event: 'approval.pending',
        state: 'pending',
        status: 500,
        error: 'the receiver answered 500',
        nextAt: expect.any(String),
      },
    ])
    await first.app.close()
    await first.platform.close({ graceMs: 1000 })

    ahead += 6000
    state.status = 204
    const second = await openTrialServer(home, { set: { webhooks }, now })
    await second.platform.recover()
    const again = await until(async () => received[1])
    expect([again.raw, again.headers['lockstep-delivery']]).toEqual([
      pending!.raw,
      pending!.headers['lockstep-delivery'],
    ])
    await until(async () => (await deliveries(second))[0].state === 'delivered')
    const { approval } = pending!.body.data
    const voted = await second.send(`POST /approvals/${approval}/approve`, 'OnCall', { reason: 'yes' })
    expect(voted.status).toBe(200)
    await until(async () => received.length === 4)
    expect(received.slice(2).map(({ body }) => [body.type, body.data.state ?? body.data.status])).toEqual([
      ['approval.decided', 'granted'],
      ['run.finished', 'succeeded'],
    ])
    expect(chat.received).toHaveLength(1)
    const tried = await second.send(`POST /webhooks/${webhook.id}/test`, 'Admin')
    expect([tried.status, tried.body.event]).toEqual([202, 'test'])
    await until(async () => received[4])
    expect((await second.send(`PATCH /webhooks/${webhook.id}`, 'Admin', { active: false })).body.active).toBe(
      false,
    )
    expect((await second.send(`POST /webhooks/${webhook.id}/test`, 'Admin')).status).toBe(409)
    expect((await second.send(`DELETE /webhooks/${webhook.id}`, 'Admin')).status).toBe(204)
    expect((await second.send(`GET /webhooks/${webhook.id}/deliveries`, 'Admin')).status).toBe(404)
  })

  it('are not sent to this machine or a private network, nor kept with a password in their address', async () => {
    const { send, platform } = await openTrialServer(aHome())
    const { url, received } = await receiver()
    for (const wrong of [
      url,
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/',
      'https://u:p@a.example/',
      'ftp://a.example/',
      url.replace('127.0.0.1', 'localhost'),
    ])
      expect((await send('POST /webhooks', 'Admin', { name: 'x', url: wrong, events })).status).toBe(422)
    // A name that leads here is found out when it is looked up.
    const named = {
      name: 'named',
      url: url.replace('127.0.0.1', 'localhost'),
      template: 'json',
      active: true,
    } as const
    const made = await platform.directory.webhooks.make(systemActor('local'), {
      ...named,
      events: [...events],
    })
    await send(`POST /webhooks/${made.webhook.id}/test`, 'Admin')
    const items = await until(async () => {
      const { body: list } = await send(`GET /webhooks/${made.webhook.id}/deliveries`, 'Admin')
      return list.items[0]?.attempts === 1 && list.items
    })
    expect(items).toMatchObject([
      { state: 'pending', status: null, error: expect.stringContaining('private network') },
    ])
    expect(received).toEqual([])
    expect(JSON.stringify(await platform.store.administered('local'))).not.toContain(made.secret)
  })
})

describe('hooks', () => {
  const hook = { name: 'alerts', kind: 'generic', runbook: 'rollback-release', inputs: { node: 'body.node' } }

  it('begin a dry run by what other systems say, once for each event', async () => {
    const { send, platform } = await openTrialServer(aHome())
    await publishSamples(platform)
    expect((await send('POST /hooks', 'SRE', hook)).status).toBe(403)
    const wrong = { ...hook, inputs: { node: 'body.(', other: 'body.x' } }
    expect(
      (await send('POST /hooks', 'Admin', wrong)).body.errors.map(({ path }: { path: string }) => path),
    ).toEqual(['body.inputs.node', 'body.inputs.other'])
    expect((await send('POST /hooks', 'Admin', { ...hook, runbook: 'nowhere' })).status).toBe(422)
    const { body, status } = await send('POST /hooks', 'Admin', hook)
    expect([status, body.hook.mode, body.hook.url]).toEqual([
      201,
      'dry-run',
      `http://lockstep.test/hooks/${body.hook.id}`,
    ])
    const at = `POST /hooks/${body.hook.id}`
    // A second of its own for each, as what is signed in the same second is the same.
    let second = 0
    const tell = async (said: object, key = body.secret, more = {}) => {
      const raw = JSON.stringify(said)
      const headers = {
        'content-type': 'application/json',
        'lockstep-signature': signBody(raw, key, Date.now() - 1000 * second++),
        ...more,
      }
      return await send(at, null, raw, headers)
    }
    expect((await tell({ node: 'node-3' }, 'another secret')).status).toBe(401)
    expect((await send(at, null, { node: 'node-3' })).status).toBe(401)
    expect((await send('POST /hooks/hk_nothing', null, {})).status).toBe(404)
    const both = await Promise.all([tell({ node: 'node-3' }), tell({ node: 'node-3' })])
    expect(both.map((each) => each.status)).toEqual([202, 202])
    expect(both.flatMap((each) => each.body.runs)).toHaveLength(1)
    expect((await tell({ node: 'node-3' })).body).toEqual({ runs: [], duplicates: 1, ignored: 0 })
    expect(
      (await tell({ node: 'node-3' }, undefined, { 'lockstep-delivery': 'another' })).body.runs,
    ).toHaveLength(1)
    const [run] = both.flatMap((each) => each.body.runs) as string[]
    const card = await until(async () => {
      const found = await platform.overview.run('local', run!)
      return found?.endedAt != null && found
    })
    expect(card).toMatchObject({
      mode: 'dry-run',
      status: 'succeeded',
      startedBy: `hook:${body.hook.id}`,
      runbook: { name: 'rollback-release' },
    })
    const refused = await tell({ other: 1 })
    expect([refused.status, refused.body.errors]).toMatchObject([422, [{ path: 'inputs.node' }]])
    expect((await tell({ node: 7 })).status).toBe(422)
    const audit = await send('GET /audit?type=hook.refused', 'Viewer')
    expect(audit.body.items).toMatchObject([{ by: `hook:${body.hook.id}` }, { by: `hook:${body.hook.id}` }])
    expect((await send(`DELETE /hooks/${body.hook.id}`, 'Admin')).status).toBe(204)
    expect((await tell({ node: 'node-4' })).status).toBe(404)
  })

  it('take a signature once, whatever stands beside it, also over a restart', async () => {
    const home = aHome()
    const first = await openTrialServer(home)
    await publishSamples(first.platform)
    const { body } = await first.send('POST /hooks', 'Admin', hook)
    const other = (await first.send('POST /hooks', 'Admin', { ...hook, secret: body.secret })).body
    const raw = JSON.stringify({ node: 'node-3' })
    const start = Date.now()
    const deliver = async (server: typeof first, id: string | null, at = start, to = body.hook.id) => {
      const headers = {
        'content-type': 'application/json',
        'lockstep-signature': `${signBody(raw, body.secret, at)}, v1=${'0'.repeat(64)}`,
        ...(id === null ? {} : { 'lockstep-delivery': id }),
      }
      const answer = await server.send(`POST /hooks/${to}`, null, raw, headers)
      return [answer.body.runs.length, answer.body.duplicates]
    }
    const both = await Promise.all([deliver(first, 'dlv_1'), deliver(first, 'dlv_2')])
    expect(both.toSorted()).toEqual([
      [0, 1],
      [1, 0],
    ])
    expect(await deliver(first, 'dlv_3')).toEqual([0, 1])
    expect(await deliver(first, null)).toEqual([0, 1])
    // Signed anew, it is another one only under another id.
    expect(await deliver(first, 'dlv_4', start - 1000)).toEqual([1, 0])
    expect(await deliver(first, 'dlv_4', start - 2000)).toEqual([0, 1])
    expect(await deliver(first, 'dlv_5', start - 2000)).toEqual([0, 1])
    // Another hook has another address, and runs of its own.
    expect(await deliver(first, 'dlv_6', start, other.hook.id)).toEqual([1, 0])
    await first.app.close()
    await first.platform.close({ graceMs: 1000 })
    const second = await openTrialServer(home)
    await second.platform.recover()
    expect(await deliver(second, 'dlv_7')).toEqual([0, 1])
  })

  it('take what Alertmanager and PagerDuty send', async () => {
    const { send, platform } = await openTrialServer(aHome())
    await publishSamples(platform)
    const alertmanager = (
      await send('POST /hooks', 'Admin', {
        ...hook,
        kind: 'alertmanager',
        inputs: { node: 'body.labels.node' },
      })
    ).body
    const alert = (status: string, node: string) => ({
      status,
      labels: { node },
      startsAt: '2026-11-16T07:00:00Z',
      fingerprint: node,
    })
    const group = {
      version: '4',
      alerts: [alert('firing', 'node-1'), alert('firing', 'node-2'), alert('resolved', 'node-3')],
    }
    const bearer = { authorization: `Bearer ${alertmanager.secret}` }
    expect((await send(`POST /hooks/${alertmanager.hook.id}`, null, group, bearer)).body).toMatchObject({
      runs: [expect.any(String), expect.any(String)],
      duplicates: 0,
      ignored: 1,
    })
    const basic = {
      authorization: `Basic ${Buffer.from(`lockstep:${alertmanager.secret}`).toString('base64')}`,
    }
    expect((await send(`POST /hooks/${alertmanager.hook.id}`, null, group, basic)).body).toEqual({
      runs: [],
      duplicates: 2,
      ignored: 1,
    })

    const theirs = 'the-secret-that-pagerduty-made'
    const pagerduty = (
      await send('POST /hooks', 'Admin', { ...hook, kind: 'pagerduty', inputs: {}, secret: theirs })
    ).body
    expect(pagerduty.secret).toBe(theirs)
    const raw = JSON.stringify({ event: { id: 'E1', event_type: 'incident.triggered', data: {} } })
    const signed = {
      'content-type': 'application/json',
      'x-pagerduty-signature': `v1=${createHmac('sha256', theirs).update(raw).digest('hex')}`,
    }
    expect((await send(`POST /hooks/${pagerduty.hook.id}`, null, raw, signed)).body.runs).toHaveLength(1)
    expect((await send(`POST /hooks/${pagerduty.hook.id}`, null, `${raw} `, signed)).status).toBe(401)
    const listed = await send('GET /hooks', 'Admin')
    expect(listed.body.items).toHaveLength(2)
    expect(listed.text).not.toContain(theirs)
  })
})
