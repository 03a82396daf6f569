import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectEngine } from '../app.ts'
import { checkConfig } from '../source/config-check.ts'
import { makePlatformHome, openTrialServer, until, type TrialServer } from './platform-home.suite.ts'

/** Ends in a way that says nothing of what it did. */
const stamp = {
  name: 'stamp',
  description: 'Stamps.',
  risk: 'write',
  command: [process.execPath, '-e', 'process.exit(3)'],
}
const { config } = checkConfig(
  { tools: { exec: [stamp] } },
  { spelling: 'file', folder: tmpdir(), file: null },
)
const home = makePlatformHome(config)
let server: TrialServer
beforeAll(async () => {
  server = await openTrialServer(home)
  const text =
    'name: stamping\nsteps:\n  - { name: mark/it 100%, id: mark, tool: stamp }\n  - { name: look, tool: practice.get_node, input: { node: node-1 } }\n'
  const made = await server.send('POST /runbooks', 'SRE', { text, format: 'yaml' })
  expect([made.status, made.body.detail]).toEqual([201, undefined])
})
afterAll(() => home.remove())

async function standing(run: string, wanted: string) {
  return await until(async () => {
    const { body } = await server.send(`GET /runs/${run}`, 'Viewer')
    return body.status === wanted && body
  })
}

/** Begins a run, and waits until nobody knows what became of its call. */
async function begin(): Promise<{ readonly run: string; readonly call: string; readonly at: string }> {
  const { body } = await server.send('POST /runs', 'SRE', { runbook: 'stamping', mode: 'execute' })
  const run = body.id as string
  const page = await standing(run, 'waiting')
  const [call] = page.callList
  expect(call).toMatchObject({ tool: 'stamp', state: 'unknown' })
  expect(page.waitsFor).toEqual([{ kind: 'outcome', text: `stamp (${call.id})` }])
  await until(async () => {
    const { items } = (await server.send('GET /runs?status=waiting', 'Viewer')).body
    return items.some(({ id }: { id: string }) => id === run)
  })
  return { run, call: call.id, at: `/runs/${run}/calls/${encodeURIComponent(call.id)}/settle` }
}

async function settlementOf(run: string) {
  const entries = await server.platform.store.read(run)
  return entries.findLast(({ type, data }) => type === 'tool.settled' && data['found'] !== undefined)?.data
}

it('goes on by itself when somebody says that the call was applied, and keeps who said so and why', async () => {
  const { run, call, at } = await begin()
  const said = { outcome: 'succeeded', result: { receipt: 7 }, reason: 'seen in the ledger' }
  expect((await server.send(`POST ${at}`, 'Viewer', said)).status).toBe(403)
  for (const wrong of [
    { outcome: 'succeeded' },
    { outcome: 'succeeded', reason: ' ' },
    { outcome: 'unknown', reason: 'x' },
    { outcome: 'failed', result: 1, reason: 'x' },
    { outcome: 'succeeded', result: '\ud800', reason: 'x' },
  ]) {
    const { status, body } = await server.send(`POST ${at}`, 'SRE', wrong)
    expect([wrong, status, body.code]).toEqual([wrong, 422, 'invalid_request'])
  }
  const other = await server.send(`POST /runs/${run}/calls/other%2F%25%20x/settle`, 'SRE', said)
  expect([other.status, other.body.code]).toEqual([409, 'not_available'])
  expect(other.body.detail).toContain("'other/% x'")
  // To go on without knowing changes nothing.
  expect((await server.send(`POST /runs/${run}/resume`, 'SRE', {})).status).toBe(202)
  await standing(run, 'waiting')

  const answers = await Promise.all([
    server.send(`POST ${at}`, 'SRE', said),
    server.send(`POST ${at}`, 'SRE', said),
  ])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409])
  const page = await standing(run, 'succeeded')
  expect(page.callList).toMatchObject([
    { id: call, state: 'succeeded', result: { receipt: 7 } },
    { tool: 'practice.get_node', state: 'succeeded' },
  ])
  expect(page.waitsFor).toEqual([])
  expect(await settlementOf(run)).toMatchObject({
    outcome: 'succeeded',
    found: { how: 'told', by: expect.stringMatching(/^apikey:/), note: 'seen in the ledger' },
  })
  expect((await server.send(`GET /runs/${run}/verify`, 'Viewer')).body).toMatchObject({ problems: [] })
  const late = await server.send(`POST ${at}`, 'SRE', said)
  expect([late.status, late.body.code]).toEqual([409, 'not_available'])
})

it('is told over the socket of the engine, and fails where nothing was applied', async () => {
  const { run, call } = await begin()
  const engine = (await connectEngine(home.folder))!
  try {
    const order = {
      type: 'settle',
      callId: call,
      outcome: 'failed',
      by: 'user:ann',
      reason: 'not there',
    } as const
    expect(await engine.order(run, { ...order, callId: 'nothing' })).toBe(false)
    expect(await engine.order(run, order)).toBe(true)
  } finally {
    engine.close()
  }
  const page = await standing(run, 'failed')
  expect(page.callList).toMatchObject([{ state: 'failed' }])
  expect(await settlementOf(run)).toMatchObject({ found: { how: 'told', by: 'user:ann', note: 'not there' } })
})

it('is settled after a restart also before anybody sat down to the run, which is taken up by that', async () => {
  const { run, at } = await begin()
  await server.app.close()
  await server.platform.close({ graceMs: 1000 })
  server = await openTrialServer(home)
  expect((await standing(run, 'waiting')).waitsFor).toMatchObject([{ kind: 'outcome' }])
  expect((await server.platform.engineOf('local')).standing(run)).toBeNull()
  const said = { outcome: 'succeeded', reason: 'seen' }
  expect((await server.send(`POST ${at}`, 'SRE', said)).status).toBe(202)
  await standing(run, 'succeeded')
})
