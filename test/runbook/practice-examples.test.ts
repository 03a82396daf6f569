/** The runbooks of examples/runbooks, on the practice service over real HTTP: what happened is read from its effects log. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { loadScriptedModel } from '../../src/agent/scripted-model.ts'
import { openTools, type OpenTools } from '../../src/app.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import { PracticeService } from '../../src/practice/practice-service.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import type { Config } from '../../src/source/config.ts'
import { loadConfig } from '../../src/source/load-config.ts'
import { loadPlaybook } from '../../src/source/load-playbook.ts'
import { loadPolicy } from '../../src/source/load-policy.ts'
import { dryRunTool } from '../../src/tool/dry-run-tool.ts'
import type { PolicySetup } from '../../src/tool/policy-guard.ts'
import type { Tool } from '../../src/tool/tool.ts'

const examples = fileURLToPath(new URL('../../examples/runbooks/', import.meta.url))
const cora = { id: 'cora', kind: 'local', roles: [] } as const

let folder: string
let service: PracticeService
let config: Config
let bound: OpenTools
let journal: MemoryJournal

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'runbooks-'))
  process.env['NOTES'] = join(folder, 'notes.json')
  service = await PracticeService.start({ file: join(folder, 'practice.db') })
  process.env['LOCKSTEP_PRACTICE_URL'] = service.url
  config = await loadConfig(join(examples, 'lockstep.config.yaml'))
  bound = await openTools(config)
  journal = new MemoryJournal()
})

afterEach(async () => {
  delete process.env['LOCKSTEP_PRACTICE_URL']
  delete process.env['NOTES']
  await bound.close()
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Setting {
  readonly dry?: { readonly callReads: boolean }
  readonly policies?: PolicySetup['policies']
  readonly change?: (tool: Tool) => Tool
}

async function agent(file: string, { dry, policies, change = (tool) => tool }: Setting = {}): Promise<Agent> {
  const tools = bound.tools.map(({ tool }) => change(dry === undefined ? tool : dryRunTool(tool, dry)))
  const policy: PolicySetup = {
    policies: policies ?? config.policies.map((path) => loadPolicy(path)),
    principal: cora,
    mode: dry === undefined ? 'execute' : 'dry-run',
  }
  const model =
    file === 'refund-order.yaml' ? loadScriptedModel(join(examples, 'refund-order.script.yaml')) : 'none'
  return new Agent({ model, playbook: loadPlaybook(join(examples, file)), tools, journal, policy })
}

async function read(path: string): Promise<JsonObject> {
  return (await (await fetch(service.url + path)).json()) as JsonObject
}

async function effects(): Promise<string[]> {
  const { effects: all } = await read('/effects')
  return (all as JsonObject[]).map(({ tool, target, key }) => `${tool} ${target} ${key}`)
}

async function fault(tool: string, kind: string, times = 1): Promise<void> {
  await fetch(`${service.url}/faults`, { method: 'POST', body: JSON.stringify({ tool, kind, times }) })
}

async function found(run: string): Promise<unknown[]> {
  return (await journal.read(run)).flatMap(({ type, data }) =>
    type === 'tool.settled' && 'found' in data ? [[data['callId'], data['outcome'], data['found']]] : [],
  )
}

const approve = {
  person: 'ann',
  identity: 'asserted',
  roles: ['SRE'],
  reason: 'seen',
  answer: 'approve',
} as const

const whole = [
  'practice.cordon_node node/node-7 r/cordon',
  'practice.rollback service/web r/rollback',
  'practice.drain_node node/node-7 r/drain',
  'practice.uncordon_node node/node-7 r/uncordon',
]

describe('rollback-release.yaml', () => {
  it('stops for an SRE, then does everything once, under the keys of its calls', async () => {
    const runbook = await agent('rollback-release.yaml')
    const held = await runbook.run('', { run: 'r' })
    expect([held.status, held.reason]).toEqual(['incomplete', expect.stringContaining('waits for approval')])
    expect(await effects()).toEqual(whole.slice(0, 1))
    expect(await runbook.vote('r', 'rollback', { ...approve, roles: ['Lead'] })).toHaveProperty('refused')
    expect(await runbook.vote('r', 'rollback', approve)).toEqual({ comesTo: 'granted' })
    expect((await runbook.resume('r')).status).toBe('succeeded')
    expect(await effects()).toEqual(whole)
    expect(await read('/services/web')).toMatchObject({ release: 'v41', healthy: true })
    expect(await read('/nodes/node-7')).toMatchObject({ cordoned: false, pods: [] })
  })

  it('ends the same where every call is cut off after its effect', async () => {
    for (const tool of ['cordon_node', 'rollback', 'drain_node', 'uncordon_node']) {
      await fault(`practice.${tool}`, 'cut')
    }
    const runbook = await agent('rollback-release.yaml')
    await runbook.run('', { run: 'r' })
    await runbook.vote('r', 'rollback', approve)
    expect((await runbook.resume('r')).status).toBe('succeeded')
    expect(await effects()).toEqual(whole)
    expect(await found('r')).toEqual([
      ['cordon', 'succeeded', { how: 'reconciled', note: 'already cordoned' }],
      ['rollback', 'succeeded', { how: 'reconciled', note: 'already back at v41' }],
      ['drain', 'succeeded', { how: 'reconciled', note: 'already drained' }],
      ['uncordon', 'succeeded', { how: 'reconciled', note: 'already uncordoned' }],
    ])
  })

  it('finds out what became of a call that was made when the process died, and goes on', async () => {
    // The answer never comes, as if the process had been killed between the effect and its record.
    const deaf = (tool: Tool): Tool => ({
      ...tool,
      execute: async (args, context) => {
        await tool.execute(args, context)
        return await new Promise(() => undefined)
      },
    })
    void (await agent('rollback-release.yaml', { change: deaf })).run('', { run: 'dead' })
    const done = ['practice.cordon_node node/node-7 dead/cordon']
    await expect.poll(effects).toEqual(done)
    const entries = await journal.read('dead')
    journal = new MemoryJournal()
    await journal.append('s', entries, { tenant: 'local', principal: 'cora', expectedSeq: 0 })
    const runbook = await agent('rollback-release.yaml')
    expect((await runbook.resume('s')).reason).toContain('waits for approval')
    expect(await found('s')).toEqual([
      ['cordon', 'succeeded', { how: 'reconciled', note: 'already cordoned' }],
    ])
    expect(await effects()).toEqual(done)
  })

  it('undoes what it did where a later step fails for good, and leaves what nobody can undo', async () => {
    await fault('practice.drain_node', 'fail', 3)
    const runbook = await agent('rollback-release.yaml')
    await runbook.run('', { run: 'r' })
    await runbook.vote('r', 'rollback', approve)
    const { status, reason } = await runbook.resume('r')
    expect([status, reason]).toEqual(['failed', expect.stringMatching(/drain[\s\S]*Undone: cordon/)])
    expect(await effects()).toEqual([...whole.slice(0, 2), 'practice.uncordon_node node/node-7 r/cordon!'])
  })

  it('tries what was not applied again under the same key', async () => {
    await fault('practice.drain_node', 'fail', 2)
    const runbook = await agent('rollback-release.yaml')
    await runbook.run('', { run: 'r' })
    await runbook.vote('r', 'rollback', approve)
    expect((await runbook.resume('r')).status).toBe('succeeded')
    expect(await effects()).toEqual(whole)
  })
})

describe('a dry run', () => {
  it.each(['rollback-release.yaml', 'refund-order.yaml', 'host-check.yaml'])(
    'of %s changes nothing, with what reads called or not',
    async (file) => {
      const before = await read('/state')
      for (const callReads of [false, true]) {
        const { status, reason } = await (await agent(file, { dry: { callReads } })).run('Go on.')
        // Where nothing is called, nothing is known of the order, and the refund waits for what its condition reads.
        if (callReads || file !== 'refund-order.yaml') expect([status, reason]).toEqual(['succeeded', null])
      }
      expect(await read('/state')).toEqual(before)
      expect(() => readFileSync(process.env['NOTES']!)).toThrow('ENOENT')
    },
  )
})

describe('refund-order.yaml', () => {
  it('looks up and pays without a model, and lets one write to nobody but the customer', async () => {
    const runbook = await agent('refund-order.yaml')
    const held = await runbook.run('Go on.', { run: 'r' })
    expect(held.reason).toContain('waits for approval')
    expect(await runbook.vote('r', 'refund', { ...approve, person: 'bob', roles: ['Lead'] })).toEqual({
      comesTo: 'granted',
    })
    const { status, violations } = await runbook.resume('r')
    expect([status, violations.length]).toEqual(['succeeded', 1])
    expect(await effects()).toEqual([
      'practice.refund order/ORD-42 r/refund',
      expect.stringMatching(/^practice\.notify_customer customer\/C-7 r\//),
    ])
    expect(await read('/orders/ORD-42')).toMatchObject({ refunded: 30 })
  })
})

describe('host-check.yaml', () => {
  it('writes one note per topic, and finds by its key a note whose program was killed', async () => {
    const runbook = await agent('host-check.yaml')
    expect((await runbook.run('', { run: 'r' })).status).toBe('succeeded')
    const notes = JSON.parse(readFileSync(process.env['NOTES']!, 'utf8')) as JsonObject[]
    expect(notes.map(({ id }) => id)).toEqual(['r/note[0]', 'r/note[1]'])
    expect(notes[0]!['text']).toMatch(/^memory: \d+ MB free at 20/)
    const note = bound.tools.find(({ tool }) => tool.name === 'note.add')!.tool
    const ask = async (key: string) =>
      await note.reconcile!(key, { text: 'x' }, { signal: new AbortController().signal })
    expect(await ask('r/note[0]')).toMatchObject({ outcome: 'succeeded', result: { id: 'r/note[0]' } })
    expect(await ask('r/other')).toMatchObject({ outcome: 'failed' })
  })
})

describe('a call of an idempotent tool that was in flight', () => {
  const text =
    'name: restart\nsteps: [{ name: restart, tool: practice.restart_service, input: { service: api } }]'

  it('is sent again under its key, unless a policy forbids it by then', async () => {
    const playbook = parsePlaybook(text, { format: 'yaml' }).playbook!
    const tools = bound.tools.map(({ tool }) => tool)
    const stuck = tools.map((tool): Tool => ({
      ...tool,
      execute: async (args, context) => {
        await tool.execute(args, context)
        return await new Promise(() => undefined)
      },
    }))
    void new Agent({ model: 'none', playbook, tools: stuck, journal }).run('', { run: 'stuck' })
    await expect.poll(async () => (await effects()).length).toBe(1)
    const entries = await journal.read('stuck')
    journal = new MemoryJournal()
    for (const run of ['a', 'b']) {
      await journal.append(run, entries, { tenant: 'local', principal: 'local', expectedSeq: 0 })
    }
    const frozen = loadPolicy('id: frozen\npreconditions: [{ tool: "*", then: block }]')
    const policy = { policies: [frozen], principal: cora }
    const forbidden = await new Agent({ model: 'none', playbook, tools, journal, policy }).resume('a')
    expect(forbidden.reason).toContain('nobody knows what became of')
    const { status } = await new Agent({ model: 'none', playbook, tools, journal }).resume('b')
    expect(status).toBe('succeeded')
    expect(await found('b')).toEqual([['restart', 'succeeded', { how: 'repeated' }]])
    expect(await read('/services/api')).toMatchObject({ restarts: 1 })
  })
})
