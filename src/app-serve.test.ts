import { tmpdir } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { makePlatformHome, until, type PlatformHome } from './gateway/platform-home.suite.ts'
import { makeLink, serve, type OpenPlatform } from './app-serve.ts'
import { openChainStore, prepareAgent } from './app.ts'
import { systemActor } from './directory/principal.ts'
import type { NewRun } from './platform/run-desk.ts'
import { isUntouched, publishSamples } from './platform/samples.ts'
import { parsePlaybook } from './playbook/parse-playbook.ts'
import { checkConfig } from './source/config-check.ts'
import { loadSettings } from './source/load-settings.ts'
import { tool } from './tool/tool.ts'
import { readServerNote } from './source/server-note.ts'

const homes: PlatformHome[] = []
afterEach(async () => {
  for (const home of homes.splice(0)) await home.remove()
})
function aHome(): PlatformHome {
  const home = makePlatformHome()
  homes.push(home)
  return home
}

const approver = { person: 'approver@local', identity: 'local', roles: ['OnCall'] } as const
const scope = { tenant: 'local', projects: null }

/** What a run of the admin is begun with, but for its playbook. */
function someRun({ directory }: OpenPlatform): Omit<NewRun, 'playbook'> {
  return {
    tenant: 'local',
    project: directory.projects.default('local').id,
    by: { actor: 'admin@local', kind: 'local', roles: ['Admin'], persons: ['admin@local'] },
    runbook: null,
    mode: 'execute',
    inputs: {},
    context: {},
    model: null,
    prompt: null,
  }
}

async function waiting({ overview }: OpenPlatform, run: string) {
  return await until(async () => {
    const { items } = await overview.approvals(scope, { state: 'waiting', run, limit: 10 })
    return items[0]
  })
}

async function ended({ overview }: OpenPlatform, run: string) {
  return await until(async () => {
    const card = await overview.run('local', run)
    return card?.endedAt != null && card
  })
}

it('publishes samples at the first start, and begins a run that goes on when the approver says so, over a restart', async () => {
  const home = aHome()
  const first = await home.open()
  expect(first.firstLinks.map(({ email }) => email)).toEqual(['admin@local', 'approver@local'])
  expect(await isUntouched(first)).toBe(true)
  // A first start that was cut off has published some of them.
  const project = first.directory.projects.default('local').id
  const text = 'name: refund-order\nsteps: [{ name: a, tool: practice.list_nodes }]\n'
  const cut = { name: 'refund-order', text, format: 'yaml', note: null } as const
  await first.directory.runbooks.publish(systemActor('local'), project, cut)
  expect(await isUntouched(first)).toBe(true)
  const run = await publishSamples(first)
  // R2: it is there when its name is told.
  expect((await first.store.read(run)).length).toBeGreaterThan(0)
  expect(await isUntouched(first)).toBe(false)
  const held = await waiting(first, run)
  expect(held).toMatchObject({ tool: 'practice.rollback' })
  await first.close({ graceMs: 1000 })

  const second = await home.open()
  expect(await isUntouched(second)).toBe(false)
  expect(await second.recover()).toBe(1)
  const engine = await second.engineOf('local')
  const card = await waiting(second, run)
  // Who began it cannot approve it, nor can somebody without the role.
  expect(
    await engine.vote(run, card.call, { ...approver, roles: ['Viewer'], answer: 'approve', reason: null }),
  ).toEqual({ refused: expect.stringMatching(/OnCall|whoever asks/) })
  expect(
    await engine.vote(run, card.call, { ...approver, person: 'lockstep', answer: 'approve', reason: null }),
  ).toEqual({ refused: expect.stringMatching(/OnCall|whoever asks/) })
  expect(
    await engine.vote(run, card.call, { ...approver, answer: 'approve', reason: 'looks right' }),
  ).toEqual({ comesTo: 'granted' })
  expect(await ended(second, run)).toMatchObject({
    status: 'succeeded',
    runbook: { name: 'rollback-release', version: 1 },
    startedBy: 'lockstep',
  })
})

it('lets no second server onto a data folder', async () => {
  const home = aHome()
  await home.open()
  await expect(home.open()).rejects.toMatchObject({ code: 'engine_running' })
})

it('leaves runs of the command line to it, and takes what people say to their calls', async () => {
  const home = aHome()
  const text = 'name: far\nsteps: [{ name: pay, tool: far.pay, required_roles: [OnCall] }]\n'
  const store = await openChainStore(home.folder)
  const pay = tool({ name: 'far.pay', description: 'Pays.', risk: 'write', execute: () => 'paid' })
  const playbook = parsePlaybook(text, { format: 'yaml' }).playbook!
  const agent = await prepareAgent({
    playbook,
    tools: [pay],
    model: 'none',
    journal: store,
    principal: 'ann',
  })
  await agent.start('', { run: 'r_cli' }).result
  await store.close()

  const platform = await home.open()
  expect(await platform.recover()).toBe(0)
  const engine = await platform.engineOf('local')
  const held = await waiting(platform, 'r_cli')
  await expect(engine.resume('r_cli')).resolves.toMatchObject({
    ended: null,
    reason: expect.stringContaining('was not begun by this server'),
  })
  // Its tools are where it was begun, and with them what would undo the call.
  const settle = { type: 'settle', callId: held.call, outcome: 'succeeded', by: 'ann', reason: null } as const
  await expect(engine.order('r_cli', settle)).rejects.toMatchObject({ code: 'not_available' })
  expect(
    await engine.vote('r_cli', held.call, { ...approver, person: 'ann', answer: 'approve', reason: null }),
  ).toHaveProperty('refused')
  expect(await engine.vote('r_cli', held.call, { ...approver, answer: 'approve', reason: null })).toEqual({
    comesTo: 'granted',
  })
})

it('binds the tools of a configuration for each run, beside the practice tools', async () => {
  const source = {
    tools: {
      exec: [
        {
          name: 'greet',
          description: 'Greets.',
          risk: 'read',
          command: [process.execPath, '-p', 'process.argv[1]', '--', '{inputs.name} by {args.by}'],
          input: { type: 'object', properties: { by: { type: 'string' } } },
        },
      ],
    },
  }
  const { config } = checkConfig(source, { spelling: 'file', folder: tmpdir(), file: null })
  const home = makePlatformHome(config)
  homes.push(home)
  const platform = await home.open()
  expect(platform.tools.tools.map(({ tool: { name }, practice }) => [name, practice])).toEqual(
    expect.arrayContaining([
      ['greet', false],
      ['practice.refund', true],
    ]),
  )
  const text =
    'name: hello\ninputs: { name: string }\nsteps: [{ name: a, tool: greet, input: { by: bob } }]\n'
  const run = await platform.desk.begin({
    ...someRun(platform),
    playbook: parsePlaybook(text, { format: 'yaml' }).playbook!,
    inputs: { name: 'ann' },
  })
  expect(await ended(platform, run)).toMatchObject({ status: 'succeeded' })
  expect(JSON.stringify(await platform.store.read(run))).toContain('ann by bob')
})

it('asks no model where none is set, and says so; what a run cannot be begun with is refused', async () => {
  const platform = await aHome().open()
  const text =
    'id: a\nname: A\nsteps: [{ id: s, description: Look., expected_tools: [practice.list_nodes] }]\n'
  const { playbook } = parsePlaybook(text, { format: 'yaml' })
  const wanted = { ...someRun(platform), playbook: playbook! }
  const begin = platform.desk.begin.bind(platform.desk)
  expect(await ended(platform, await begin(wanted))).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('This step needs a model, and none is named'),
    model: null,
  })
  await expect(begin({ ...wanted, inputs: { z: 1 } })).rejects.toMatchObject({ code: 'invalid_input' })
  for (const model of ['me', 'scripted:/etc/passwd', 'openai-compatible:x@http://10.0.0.1/v1'])
    await expect(begin({ ...wanted, model })).rejects.toMatchObject({ code: 'unknown_model' })
  const named = { ...wanted, name: 'the-same' }
  expect(await begin(named)).toBe('r_the-same')
  await expect(begin(named)).rejects.toMatchObject({ code: 'run_exists' })
})

it('hears what people say to a program, and says so when it asks nobody', async () => {
  const platform = await aHome().open()
  await publishSamples(platform)
  const { texts, desk } = platform
  const runbook = (await texts.findRunbook('local', 'triage', null))!
  const run = await desk.begin({
    ...someRun(platform),
    playbook: await texts.open('local', runbook, 1),
    runbook: { id: runbook.id, name: runbook.name, version: 1 },
  })
  for (const text of ['web', 'yes']) await desk.say('local', run, text)
  expect(await platform.overview.run('local', run)).toMatchObject({ endedAt: null })
  await desk.say('local', run, 'yes')
  expect(await ended(platform, run)).toMatchObject({ status: 'succeeded' })
  expect(JSON.stringify(await platform.store.read(run))).toContain('Take web back: begin rollback-release.')
  await expect(desk.say('local', run, 'more')).rejects.toThrow()
})

describe('serve', () => {
  it('lets the approver in by the link of the first start, and the sample run goes on when they approve it', async () => {
    const home = aHome()
    const { settings } = loadSettings({ env: { LOCKSTEP_HOME: home.folder, LOCKSTEP_PORT: '0' } })
    const served = await serve({ settings })
    try {
      expect(served.firstLinks.map(({ email }) => email)).toEqual(['admin@local', 'approver@local'])
      expect(readServerNote(home.folder, process.pid)?.url).toBe(served.url)
      const port = Number(new URL(served.url).port)
      const other = makePlatformHome()
      const taken = { ...settings, home: other.folder, port }
      await expect(serve({ settings: taken })).rejects.toMatchObject({
        code: 'cannot_listen',
        hint: expect.stringContaining('--port'),
      })
      await other.remove()

      const ask = async (path: string, init: RequestInit = {}) => {
        const answer = await fetch(`${served.url}${path}`, { ...init, redirect: 'manual' })
        return { answer, body: (await answer.json().catch(() => null)) as Record<string, never> }
      }
      const json = { 'content-type': 'application/json' }
      const token = new URLSearchParams(new URL(served.firstLinks[1]!.address).hash.slice(1)).get('token')
      const link = { method: 'POST', headers: json, body: JSON.stringify({ token }) }
      const signed = await ask('/auth/link', link)
      expect(signed.answer.status).toBeLessThan(300)
      expect((await ask('/auth/link', link)).answer.status).toBe(401)
      const cookie = signed.answer.headers.get('set-cookie')!.split(';')[0]!
      const me = await ask('/me', { headers: { cookie } })
      const approvals = await until(async () => {
        const { body } = await ask('/approvals', { headers: { cookie } })
        return (
          (body['items'] as unknown as { id: string; run: string }[]).length > 0 &&
          (body['items'] as unknown as { id: string; run: string }[])
        )
      })
      expect(approvals[0]!.run).toBe(served.sampleRun)
      const headers = { ...json, cookie, 'x-csrf-token': String(me.body['csrfToken']) }
      const approved = await ask(`/approvals/${approvals[0]!.id}/approve`, {
        method: 'POST',
        headers,
        body: '{}',
      })
      expect(approved.answer.status).toBe(200)
      await until(
        async () =>
          (await ask(`/runs/${served.sampleRun}`, { headers: { cookie } })).body['status'] === 'succeeded',
      )
      expect((await fetch(`${served.url}/console/`)).status).not.toBe(401)
    } finally {
      await served.close({ graceMs: 1000 })
    }
    expect(readServerNote(home.folder, process.pid)).toBeNull()
    await expect(fetch(served.url)).rejects.toThrow()

    const again = await serve({ settings })
    try {
      expect([again.sampleRun, again.firstLinks.map(({ email }) => email)]).toEqual([null, ['admin@local']])
      const { token } = await makeLink(settings, 'approver@local')
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      }
      expect((await fetch(`${again.url}/auth/link`, init)).status).toBeLessThan(300)
      await expect(makeLink(settings, 'nobody@local')).rejects.toMatchObject({ code: 'usage' })
    } finally {
      await again.close({ graceMs: 1000 })
    }
  })
})
