import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { compensationOf } from '../tool/compensation-of.ts'
import { dryRunTool } from '../tool/dry-run-tool.ts'
import { findOut } from '../tool/find-out.ts'
import { targetOf } from '../tool/target-of.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { ToolFailure } from '../tool/tool-failure.ts'
import type { Tool } from '../tool/tool.ts'
import { practiceDeclarations } from './practice-declaration.ts'
import { PracticeService, practiceToolNames } from './practice-service.ts'
import { createPracticeTools } from './practice-tools.ts'

let folder: string
let service: PracticeService
let tools: ReadonlyMap<string, Tool>

const context = { signal: new AbortController().signal, idempotencyKey: 'r_1/step' }

/** Arguments that every tool takes. */
const sample: Readonly<Record<string, JsonObject>> = {
  'practice.get_node': { node: 'node-7' },
  'practice.list_nodes': {},
  'practice.get_release': { service: 'web' },
  'practice.list_services': {},
  'practice.lookup_order': { order_id: 'ORD-42' },
  'practice.lookup_customer': { customer_id: 'C-7' },
  'practice.cordon_node': { node: 'node-7' },
  'practice.uncordon_node': { node: 'node-7' },
  'practice.drain_node': { node: 'node-7' },
  'practice.deploy': { service: 'web', release: 'v43' },
  'practice.rollback': { service: 'web' },
  'practice.restart_service': { service: 'api' },
  'practice.refund': { order_id: 'ORD-42', amount: 30 },
  'practice.notify_customer': { customer_id: 'C-7', text: 'paid' },
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'practice-'))
  service = await PracticeService.start({ file: join(folder, 'practice.db') })
  tools = new Map(createPracticeTools(async () => service.url).map((each) => [each.name, each]))
})

afterEach(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

async function call(name: string, args: JsonObject = sample[name]!, key = 'r_1/step') {
  return (await tools.get(name)!.execute(args, { ...context, idempotencyKey: key })) as JsonObject
}

async function read(path: string): Promise<JsonObject> {
  return (await (await fetch(service.url + path)).json()) as JsonObject
}

async function effects(): Promise<JsonObject[]> {
  return (await read('/effects'))['effects'] as JsonObject[]
}

async function fault(tool: string, kind: string, ms = 0): Promise<void> {
  await fetch(`${service.url}/faults`, { method: 'POST', body: JSON.stringify({ tool, kind, ms }) })
}

/** Runs one call as a run does, with a fault. */
function enforce(name: string) {
  const playbook = definePlaybook({
    id: 'p',
    name: 'P',
    description: 'd',
    steps: [{ id: 'a', description: 'A', expectedTools: [name] }],
  })
  return PlaybookEnforcer.fromPlaybook(playbook, { tools: [...tools.values()], run: 'r_9' })
}

describe('practice tools', () => {
  it('there is one for every path, and a sample of each', () => {
    expect([...tools.keys()].toSorted()).toEqual(practiceToolNames.toSorted())
    expect(Object.keys(sample).toSorted()).toEqual(practiceToolNames.toSorted())
    for (const [name, args] of Object.entries(sample)) {
      expect(tools.get(name)!.checkArguments(args)).toEqual([])
      expect(tools.get(name)!.checkArguments({ ...args, extra: 1 })).not.toEqual([])
    }
  })

  it('are declared as they are, for whoever checks a playbook without calling anything', () => {
    const declared = practiceDeclarations.map(({ name, risk, input }) => ({ name, risk, input }))
    expect(declared).toEqual([...tools.values()].map(({ name, risk, input }) => ({ name, risk, input })))
  })

  it('declares every tool that writes: risk, what it acts on, and how an unknown outcome is found out', () => {
    for (const [name, tool] of tools) {
      if (tool.risk === 'read') continue
      expect([name, targetOf(tool, sample[name]!)]).toEqual([name, expect.stringMatching(/^\w+\/\w+-?\w+$/)])
      expect([name, tool.reconcile !== null || tool.idempotent]).toEqual([name, true])
    }
    expect(tools.get('practice.rollback')!.risk).toBe('irreversible')
    expect(tools.get('practice.refund')!.risk).toBe('irreversible')
    expect(targetOf(tools.get('practice.cordon_node')!, sample['practice.cordon_node']!)).toBe('node/node-7')
  })

  it('works through a release that has gone wrong', async () => {
    await call('practice.cordon_node', undefined, 'a')
    expect(await call('practice.drain_node', undefined, 'b')).toMatchObject({ drained: true, practice: true })
    expect(await call('practice.get_release')).toMatchObject({ release: 'v42', healthy: false })
    await call('practice.rollback', undefined, 'c')
    expect(await call('practice.get_release')).toMatchObject({ release: 'v41', healthy: true })
    await call('practice.uncordon_node', undefined, 'd')
    expect(await call('practice.get_node')).toMatchObject({ cordoned: false, pods: [] })
    expect(await effects()).toHaveLength(4)
  })

  it('states that nothing was applied where the service says no or cannot be reached', async () => {
    await expect(call('practice.cordon_node', { node: 'node-99' })).rejects.toThrow(ToolFailure)
    await expect(call('practice.refund', { order_id: 'ORD-42', amount: 31 })).rejects.toThrow(ToolFailure)
    await call('practice.cordon_node')
    await expect(call('practice.uncordon_node')).rejects.toThrow(/belongs to another request/)
    const [lost] = createPracticeTools(async () => 'http://127.0.0.1:1').filter(
      (each) => each.risk === 'write',
    )
    await expect(lost!.execute({ node: 'node-7' }, context)).rejects.toThrow(ToolFailure)
  })

  it.each(practiceToolNames)('a dry run of %s changes nothing, whatever becomes of it', async (name) => {
    const tool = tools.get(name)!
    const before = await read('/state')
    for (const callReads of [false, true]) {
      const dry = dryRunTool(tool, { callReads })
      const result = (await dry.execute(sample[name]!, context)) as JsonObject
      if (tool.risk !== 'read')
        expect(result).toMatchObject({ dry_run: true, would: { request: expect.stringMatching(/^POST/) } })
      // Nobody can be asked about a call that was not made, and nothing is sent again.
      await findOut(dry, { key: context.idempotencyKey, args: sample[name]! })
      const undo = compensationOf(dry, sample[name]!, result)
      if (undo !== null && 'tool' in undo) {
        await dryRunTool(tools.get(undo.tool)!, { callReads }).execute(undo.args, context)
      }
    }
    expect(await read('/state')).toEqual(before)
  })

  it('a dry run makes only GETs: a service that answers nothing else is enough', async () => {
    const asked: string[] = []
    const real = globalThis.fetch
    globalThis.fetch = async (url, init) => {
      asked.push(init?.method ?? 'GET')
      return await real(url, init)
    }
    try {
      for (const [name, tool] of tools)
        await dryRunTool(tool, { callReads: true }).execute(sample[name]!, context)
    } finally {
      globalThis.fetch = real
    }
    expect(asked.length).toBeGreaterThan(10)
    expect(new Set(asked)).toEqual(new Set(['GET']))
  })

  it('says what it would do, seeing how things are', async () => {
    const would = async (name: string) => {
      const result = await dryRunTool(tools.get(name)!, { callReads: false }).execute(sample[name]!, context)
      return (result as { would: { plan: string } }).would.plan
    }
    expect(await would('practice.cordon_node')).toBe('cordon node-7')
    expect(await would('practice.rollback')).toBe('take web back from v42 to v41')
    await call('practice.cordon_node')
    expect(await would('practice.cordon_node')).toBe('node-7 is cordoned already')
    expect(await would('practice.drain_node')).toBe('move 2 pods away from node-7')
  })

  it('undoes what it changed, and leaves alone what was so before', async () => {
    const cordon = tools.get('practice.cordon_node')!
    const first = await call('practice.cordon_node', { node: 'node-7' }, 'a')
    const undo = { tool: 'practice.uncordon_node', args: { node: 'node-7' } }
    expect(compensationOf(cordon, { node: 'node-7' }, first)).toEqual(undo)
    const second = await call('practice.cordon_node', { node: 'node-7' }, 'b')
    expect(compensationOf(cordon, { node: 'node-7' }, second)).toBeNull()
    const deployed = await call('practice.deploy', undefined, 'c')
    const back = { tool: 'practice.rollback', args: { service: 'web', release: 'v42' } }
    expect(compensationOf(tools.get('practice.deploy')!, sample['practice.deploy']!, deployed)).toEqual(back)
    await call(back.tool, back.args, 'd')
    expect(await call('practice.get_release')).toMatchObject({ release: 'v42', previous: ['v41', 'v40'] })
  })

  it('a call that was cut is found out by its key and counts as made, once', async () => {
    await fault('practice.cordon_node', 'cut')
    const outcome = await enforce('practice.cordon_node').call('practice.cordon_node', { node: 'node-7' })
    expect(outcome).toMatchObject({
      status: 'succeeded',
      result: { practice: true, node: 'node-7', cordoned: true },
      found: { how: 'reconciled', note: 'already cordoned' },
    })
    expect(await effects()).toHaveLength(1)
  })

  it('a call that the service refused in trouble is found out as not made', async () => {
    await fault('practice.rollback', 'fail')
    const outcome = await enforce('practice.rollback').call('practice.rollback', { service: 'web' })
    expect(outcome).toMatchObject({ status: 'failed', found: { how: 'reconciled', note: 'not applied' } })
    expect(await effects()).toHaveLength(0)
  })

  it('a call that is still being carried out is not taken for one that was not made', async () => {
    // Far longer than it takes to ask, also on a machine that has other things to do.
    await fault('practice.rollback', 'delay', 3_000)
    const outcome = await enforce('practice.rollback').call(
      'practice.rollback',
      { service: 'web' },
      undefined,
      {
        timeoutSeconds: 0.3,
      },
    )
    expect(outcome).toMatchObject({ status: 'unknown', found: { note: 'still in progress' } })
    await expect.poll(async () => (await effects()).length).toBe(1)
  })

  it('an idempotent call that was cut is sent again under its key, and has one effect', async () => {
    await fault('practice.restart_service', 'cut')
    const enforcer = enforce('practice.restart_service')
    expect(await enforcer.call('practice.restart_service', { service: 'api' })).toMatchObject({
      status: 'succeeded',
      result: { restarts: 1 },
      found: { how: 'repeated' },
    })
    expect(await effects()).toEqual([expect.objectContaining({ key: 'r_9/call-1', changed: true })])
  })
})
