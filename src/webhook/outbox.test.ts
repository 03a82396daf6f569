import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openChainStore } from '../app.ts'
import type { ChainStore } from '../journal/chain-store.ts'
import { Outbox, waitAfter, type WebhookTarget } from './outbox.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const start = 1_900_000_000_000
const hour = 3_600_000

async function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-outbox-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const store = await openChainStore(folder)
  closing.push(() => store.close())
  const answers = { status: 204 }
  const received: string[] = []
  const server: Server = createServer((request, response) => {
    received.push(String(request.headers['lockstep-delivery']))
    request.resume().on('end', () => response.writeHead(answers.status).end())
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => void server.close(resolve)))
  const clock = { now: start }
  const target: WebhookTarget = {
    id: 'wh_1',
    tenant: 'local',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    events: ['run.finished'],
    template: 'json',
    active: true,
    createdAt: start,
  }
  const targets = [target]
  const open = async () =>
    await Outbox.open({
      path: join(folder, 'webhooks.db'),
      store,
      targets: (tenant) => targets.filter((each) => each.tenant === tenant),
      hasTargets: () => targets.length > 0,
      secretOf: () => 'a secret',
      about: async () => ({ playbook: 'P', project: null }),
      url: () => 'http://l.example',
      limits: { allowPrivate: true, timeoutMs: 10_000 },
      now: () => clock.now,
      everyMs: 5,
    })
  return { store, answers, received, clock, targets, open }
}

async function finish(store: ChainStore, run: string, at: number): Promise<void> {
  const author = { tenant: 'local', principal: 'ann' }
  const facts = [
    { type: 'run.started', at, data: {} },
    { type: 'run.finished', at, data: { status: 'succeeded', message: '' } },
  ]
  await store.append(run, facts, { expectedSeq: 0, ...author })
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => void setTimeout(resolve, 5))
}

const page = { cursor: null, limit: 10 }

it('O1, O4: sends what is written while it is open or was closed, and nothing from before', async () => {
  const { store, received, open, targets } = await setUp()
  await finish(store, 'r_before', start + 1)
  let outbox = await open()
  await finish(store, 'r_early', start - 1)
  await finish(store, 'r_one', start + 1)
  await until(() => received.length === 1)
  await outbox.close()
  await finish(store, 'r_two', start + 2)
  outbox = await open()
  await until(() => received.length === 2)
  expect(outbox.list('local', 'wh_1', page).items.map(({ subject }) => subject)).toEqual(['r_two', 'r_one'])
  // Nobody wants it: it is not read, and not sent to who wants it later.
  const [target] = targets.splice(0)
  await finish(store, 'r_three', start + 3)
  await until(() => outbox.counts().pending === 0)
  await outbox.close()
  targets.push({ ...target!, createdAt: start + 4 })
  outbox = await open()
  await finish(store, 'r_four', start + 5)
  await until(() => received.length === 3)
  expect(outbox.list('local', 'wh_1', page).items[0]).toMatchObject({ subject: 'r_four' })
  await outbox.close()
})

it('O2, O3: asks again later and later under the same id, and gives up after a day', async () => {
  const { store, received, answers, clock, open } = await setUp()
  answers.status = 503
  const outbox = await open()
  await finish(store, 'r_one', start)
  const only = () => outbox.list('local', 'wh_1', page).items[0]
  await until(() => only()?.attempts === 1)
  expect(only()).toMatchObject({ state: 'pending', status: 503, nextAt: start + 5000 })
  for (let attempts = 2; attempts <= 4; attempts++) {
    clock.now = only()!.nextAt!
    await until(() => only()!.attempts === attempts)
    expect(only()!.nextAt).toBe(clock.now + waitAfter(attempts))
  }
  clock.now = start + 24 * hour
  await until(() => only()!.state === 'failed')
  expect(new Set(received).size).toBe(1)
  answers.status = 410
  await finish(store, 'r_gone', clock.now)
  await until(() => only()!.subject === 'r_gone' && only()!.state === 'failed')
  expect(only()).toMatchObject({ attempts: 1, status: 410 })
  await outbox.close()
})

it('waits 5 seconds at first, and an hour at most', () => {
  expect([1, 2, 3, 10, 11, 50].map(waitAfter)).toEqual([5000, 10_000, 20_000, 2_560_000, hour, hour])
})
