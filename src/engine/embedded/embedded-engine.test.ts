import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Agent } from '../../agent/agent.ts'
import { openKeyRing } from '../../journal/chain-keys.ts'
import { SqliteJournal } from '../../journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../../playbook/define-playbook.ts'
import type { Playbook } from '../../playbook/playbook.ts'
import { compilePolicy } from '../../policy/compile-policy.ts'
import { policyOf } from '../../policy/policy.ts'
import { policySchema } from '../../policy/policy-schema.ts'
import type { PolicySetup } from '../../tool/policy-guard.ts'
import { tool, type Tool } from '../../tool/tool.ts'
import { ToolFailure } from '../../tool/tool-failure.ts'
import { agentWork } from '../agent-work.ts'
import { EmbeddedEngine } from './embedded-engine.ts'

const runbook = definePlaybook({
  id: 'cordon',
  name: 'Cordon',
  inputs: { node: 'string' },
  steps: [
    { id: 'look', tool: 'look', input: { node: '{inputs.node}' } },
    { id: 'cordon', tool: 'cordon', input: { node: '{inputs.node}' } },
    { id: 'drain', tool: 'drain', input: { node: '{inputs.node}' } },
  ],
})

/** A cluster that is not there: what was done to it, and how much of it at once. */
class Cluster {
  readonly done: string[] = []
  readonly busy = new Map<string, number>()
  crowd = 0
  slow = 0
  fail: (() => void) | null = null
  hang: Promise<void> | null = null

  /** What is asked of it from now on takes until it is let go. */
  hold(): () => void {
    let release: () => void = () => undefined
    this.hang = new Promise((resolve) => {
      release = () => {
        this.hang = null
        resolve()
      }
    })
    return release
  }

  readonly tools: readonly Tool[] = [
    tool({ name: 'look', description: 'Looks.', risk: 'read', execute: () => ({ ok: true }) }),
    this.#writing('cordon'),
    this.#writing('drain'),
  ]

  #writing(name: string): Tool {
    return tool({
      name,
      description: 'Acts on a node.',
      risk: 'write',
      target: ({ node }) => String(node),
      execute: async ({ node }) => {
        const place = String(node)
        this.busy.set(place, (this.busy.get(place) ?? 0) + 1)
        this.crowd = Math.max(this.crowd, this.busy.get(place)!)
        if (this.slow > 0) await sleep(this.slow)
        if (this.hang !== null) await this.hang
        this.busy.set(place, this.busy.get(place)! - 1)
        this.fail?.()
        this.done.push(`${name} ${place}`)
        return { [name]: true }
      },
    })
  }
}

function world(playbook: Playbook = runbook, policy?: PolicySetup) {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-engine-'))
  const cluster = new Cluster()
  const trouble: string[] = []
  const openStore = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const open = async (store = openStore()) => {
    const work = (run: string, node = 'n1') => {
      const under = policy === undefined ? {} : { policy }
      const { journal } = engine
      const agent = new Agent({ playbook, tools: cluster.tools, journal, model: 'none', ...under })
      return agentWork(agent, run, { prompt: '', inputs: { node } })
    }
    const engine: EmbeddedEngine = await EmbeddedEngine.open({
      store,
      load: async (run) => work(run),
      onTrouble: (run, error) => trouble.push(`${run}: ${(error as Error).message}`),
    })
    const close = async (graceMs?: number) => {
      await engine.close(graceMs === undefined ? {} : { graceMs })
      await store.close()
    }
    return {
      engine,
      store,
      work,
      close,
      start: (run: string, node?: string) => engine.start(run, work(run, node)),
    }
  }
  return { cluster, trouble, open, openStore }
}

const until = async (holds: () => boolean) => {
  while (!holds()) await sleep(2)
}

describe('EmbeddedEngine', () => {
  test('takes up no run that has ended, also where those who speak to it come late', async () => {
    const { open, trouble } = world()
    const { start, engine, store, close } = await open()
    expect(await start('r1')).toMatchObject({ ended: 'succeeded' })
    const vote = { person: 'ada', identity: 'key', roles: [], answer: 'approve', reason: null } as const
    const said = await Promise.allSettled([
      ...Array.from({ length: 6 }, () => engine.vote('r1', 'c1', vote)),
      engine.order('r1', { type: 'resume', by: 'ada' } as never),
      engine.resume('r1'),
    ])
    expect(said).toHaveLength(8)
    expect(await store.openRuns()).toEqual([])
    expect(await engine.runs()).toEqual([])
    expect(await engine.recover()).toBe(0)
    expect(trouble).toEqual([])
    await close()
  })

  test('runs many at once to their end, and knows none of them any more', async () => {
    const { open, cluster, trouble } = world()
    const { start, engine, store, close } = await open()
    const rests = await Promise.all(Array.from({ length: 100 }, (_, n) => start(`r${n}`, `n${n}`)))
    expect(rests.every(({ ended, reason }) => ended === 'succeeded' && reason === null)).toBe(true)
    expect(cluster.done).toHaveLength(200)
    expect([await engine.runs(), await store.openRuns(), trouble]).toEqual([[], [], []])
    await close()
  })

  test('E1: a run in hand is not begun a second time', async () => {
    const { open } = world()
    const { start, close } = await open()
    const first = start('r1')
    expect(() => start('r1')).toThrow(expect.objectContaining({ code: 'run_in_progress' }))
    await first
    await close()
  })

  test('E2: two runs never act on one target at the same time, and others do not wait for them', async () => {
    const { open, cluster } = world()
    cluster.slow = 3
    const { start, store, close } = await open()
    const rests = await Promise.all([
      ...Array.from({ length: 10 }, (_, n) => start(`r${n}`, 'n1')),
      ...Array.from({ length: 10 }, (_, n) => start(`s${n}`, `other${n}`)),
    ])
    expect(rests.map(({ ended }) => ended)).toEqual(Array.from({ length: 20 }, () => 'succeeded'))
    expect(cluster.crowd).toBe(1)
    expect(await store.locks('local')).toEqual([])
    await close()
  })

  test('E2: a call of unknown outcome keeps its target, over a restart, until somebody settles it', async () => {
    const { open, cluster } = world()
    const first = await open()
    cluster.fail = () => {
      throw new Error('the connection was cut')
    }
    expect(await first.start('r1')).toMatchObject({ ended: null, reason: expect.stringMatching(/cordon/) })
    cluster.fail = null
    let other = first.start('r2')
    await sleep(30)
    expect(cluster.done).toEqual([])
    expect(await first.store.locks('local')).toEqual([{ key: 'target:n1', run: 'r1' }])
    await first.close()
    expect((await other).ended).toBeNull()
    const second = await open()
    other = second.engine.resume('r2')
    await sleep(30)
    expect(cluster.done).toEqual([])
    const agent = new Agent({
      playbook: runbook,
      tools: cluster.tools,
      journal: second.engine.journal,
      model: 'none',
    })
    await agent.resume('r1', { settle: { cordon: { outcome: 'succeeded' } } })
    expect((await other).ended).toBe('succeeded')
    await second.close()
  })

  test('E2: says which run holds a target that nobody will give back, and goes on when another process does', async () => {
    const { open, openStore, cluster } = world()
    const other = openStore()
    const by = { tenant: 'local', principal: 'ann' }
    const locks = [{ kind: 'lock', key: 'target:n1' }] as const
    const fact = { type: 'a', at: 1, data: {} }
    await other.append('r_other', [fact], { ...by, expectedSeq: 0, reservations: locks })
    const { engine, store, start, close } = await open()
    const rest = start('r_1')
    while ((await engine.heldUp('r_1')) === null) await sleep(5)
    await other.close()
    expect(await engine.heldUp('r_1')).toEqual({ kind: 'target', target: 'n1', run: 'r_other' })
    expect(cluster.done).toEqual([])
    await store.append('r_other', [fact], { ...by, expectedSeq: 1, releases: locks })
    expect(await rest).toMatchObject({ ended: 'succeeded' })
    expect(await engine.heldUp('r_1')).toBeNull()
    await close()
  })

  test('E3: a halted tenant stops before its next effect, over a restart, and goes on by itself', async () => {
    const { open, cluster } = world()
    const release = cluster.hold()
    const first = await open()
    const running = first.start('r1')
    await until(() => (cluster.busy.get('n1') ?? 0) > 0)
    expect(await first.engine.halt('ada', 'wrong region')).toBe(true)
    release()
    await until(() => cluster.done.length > 0)
    await sleep(50)
    expect(cluster.done).toEqual(['cordon n1'])
    await first.close()
    expect(await running).toMatchObject({ ended: null })
    const second = await open()
    expect(await second.engine.halted()).toMatchObject({ by: 'ada', reason: 'wrong region' })
    const resumed = second.engine.resume('r1')
    const begun = second.start('r2', 'n2')
    await sleep(50)
    expect(cluster.done).toEqual(['cordon n1'])
    // Somebody without this engine lets them go on.
    await second.store.unhalt({ tenant: 'local', principal: 'bob' }, { at: 1, reason: 'mended' })
    expect((await resumed).ended).toBe('succeeded')
    expect((await begun).ended).toBe('succeeded')
    expect(cluster.done.toSorted()).toEqual(['cordon n1', 'cordon n2', 'drain n1', 'drain n2'])
    await second.close()
  })

  test('E3: what another process halts is noticed at the next admission, and nothing is lost', async () => {
    const { open, cluster, trouble } = world()
    const { start, store, close, engine } = await open()
    await store.halt({ tenant: 'local', principal: 'eve' }, { at: 1, reason: 'audit' })
    const running = start('r1')
    await sleep(80)
    expect(cluster.done).toEqual([])
    await engine.unhalt('ada', 'done')
    expect((await running).ended).toBe('succeeded')
    expect([cluster.done, trouble]).toEqual([['cordon n1', 'drain n1'], []])
    await close()
  })

  test('pauses a run before its next effect, goes on with it, and cancels one for good', async () => {
    const { open, cluster } = world()
    const release = cluster.hold()
    const { start, engine, close } = await open()
    const one = start('r1')
    const two = start('r2', 'n2')
    await until(() => cluster.busy.size === 2)
    expect(await engine.order('r1', { type: 'pause', by: 'ada', reason: 'lunch' })).toBe(true)
    expect(await engine.order('r2', { type: 'cancel', by: 'ada', reason: 'mistake' })).toBe(true)
    release()
    expect(await one).toMatchObject({ ended: null, reason: 'the run is paused by ada: lunch' })
    expect(await two).toMatchObject({ ended: 'cancelled' })
    expect(await engine.order('r1', { type: 'pause', by: 'ada', reason: null })).toBe(false)
    expect(cluster.done.toSorted()).toEqual(['cordon n1', 'cordon n2'])
    expect(await engine.order('r1', { type: 'unpause', by: 'ada', reason: null })).toBe(true)
    await until(() => cluster.done.length === 3)
    await close()
    expect(cluster.done.toSorted()).toEqual(['cordon n1', 'cordon n2', 'drain n1'])
  })

  test('E4, E5: waits for what is in flight, begins nothing new, and the next engine goes on', async () => {
    const { open, cluster } = world()
    const release = cluster.hold()
    const first = await open()
    const rests = ['r1', 'r2', 'r3'].map((run, n) => first.start(run, `n${n}`))
    await until(() => cluster.busy.size === 3)
    const closing = first.close()
    release()
    await closing
    for (const rest of await Promise.all(rests)) expect(rest.ended).toBeNull()
    expect(cluster.done).toHaveLength(3)
    const second = await open()
    expect(await second.store.openRuns()).toEqual(['r1', 'r2', 'r3'])
    expect(await second.engine.recover()).toBe(3)
    await until(() => cluster.done.length === 6)
    await second.engine.idle()
    await second.close()
    expect(new Set(cluster.done).size).toBe(6)
  })

  test('E4: gives up on what is in flight after a limit, and says nothing of it that nobody knows', async () => {
    const { open, cluster } = world()
    const release = cluster.hold()
    const { start, store, engine } = await open()
    void start('r1')
    await until(() => cluster.busy.size === 1)
    await engine.close({ graceMs: 20 })
    const calls = (await store.read('r1')).filter(
      ({ type }) => type === 'tool.admitted' || type === 'tool.settled',
    )
    expect(calls.at(-1)).toMatchObject({ type: 'tool.admitted', data: { callId: 'cordon' } })
    await store.close()
    release()
    await until(() => cluster.done.length === 1)
  })

  test('E5: the next attempt after a failure comes after a restart, at its time', async () => {
    const playbook = definePlaybook({
      id: 'again',
      name: 'Again',
      inputs: { node: 'string' },
      steps: [
        {
          id: 'cordon',
          tool: 'cordon',
          input: { node: '{inputs.node}' },
          retry: { attempts: 3, delaySeconds: 0.2 },
        },
      ],
    })
    const { open, cluster } = world(playbook)
    cluster.fail = () => {
      throw new ToolFailure('not now')
    }
    const first = await open()
    const began = Date.now()
    const running = first.start('r1')
    await until(() => cluster.busy.get('n1') === 0)
    await sleep(10)
    await first.close()
    expect((await running).ended).toBeNull()
    cluster.fail = null
    const second = await open()
    expect((await second.engine.resume('r1')).ended).toBe('succeeded')
    expect(Date.now() - began).toBeGreaterThanOrEqual(195)
    await second.close()
  })

  test('goes on by itself when a person has approved', async () => {
    const playbook = definePlaybook({
      id: 'asked',
      name: 'Asked',
      inputs: { node: 'string' },
      steps: [
        { id: 'cordon', tool: 'cordon', input: { node: '{inputs.node}' }, requiresApproval: true },
        { id: 'drain', tool: 'drain', input: { node: '{inputs.node}' } },
      ],
    })
    const { open, cluster } = world(playbook)
    const { start, engine, store, close } = await open()
    const running = start('r1')
    const isEnded = async () => (await store.openRuns()).length === 0
    const isHeld = async () => (await store.read('r1')).some(({ type }) => type === 'tool.held')
    while (!(await isHeld())) await sleep(5)
    const vote = { identity: 'local', roles: [], answer: 'approve', reason: null } as const
    expect(await engine.vote('r1', 'cordon', { ...vote, person: 'local' })).toHaveProperty('refused')
    expect(await engine.vote('r1', 'cordon', { ...vote, person: 'bob' })).toEqual({ comesTo: 'granted' })
    await running
    while (!(await isEnded())) await sleep(5)
    expect(cluster.done).toEqual(['cordon n1', 'drain n1'])
    await close()
  })

  test('goes on by itself when nobody approved in time', async () => {
    const playbook = definePlaybook({
      id: 'late',
      name: 'Late',
      inputs: { node: 'string' },
      steps: [{ id: 'cordon', tool: 'cordon', input: { node: '{inputs.node}' }, requiresApproval: true }],
    })
    const source = { id: 'team', version: '1', approval_defaults: { expires_after: '1s' } }
    const policies = [compilePolicy(policyOf(policySchema.parse(source), source))]
    const principal = { id: 'ann', kind: 'local', roles: [] } as const
    const { open, cluster } = world(playbook, { policies, principal })
    const { start, store, close } = await open()
    await start('r1')
    while ((await store.openRuns()).length > 0) await sleep(20)
    const last = (await store.read('r1')).at(-1)!
    expect(last).toMatchObject({ type: 'run.finished', data: { status: 'failed' } })
    expect(last.data['message']).toContain('its approval came too late')
    expect(cluster.done).toEqual([])
    await close()
  })

  test('tells a run as it is written, from its beginning or a later entry, until it ends', async () => {
    const { open, cluster } = world()
    cluster.slow = 10
    const { start, engine, store, close } = await open()
    const { signal } = new AbortController()
    const running = start('r1')
    const told: number[] = []
    for await (const { seq } of engine.tail('r1', 1, signal)) told.push(seq)
    expect((await running).ended).toBe('succeeded')
    expect(told).toEqual((await store.read('r1')).map(({ seq }) => seq))
    const later: number[] = []
    for await (const { seq } of engine.tail('r1', told.length - 1, signal)) later.push(seq)
    expect(later).toEqual(told.slice(-2))
    await close()
  })
})

test('E1: orders that come while a run is being taken up, or waits for a halt to end, are neither lost nor refused', async () => {
  const { open, cluster } = world()
  const { start, engine, store, close } = await open()
  await engine.halt('ada', 'first')
  const waiting = start('r1')
  const second = start('r2', 'n2')
  // The run waits before anybody is at work on it; what was begun is its first entry.
  await sleep(30)
  expect(cluster.done).toEqual([])
  const cancelling = engine
    .order('r2', { type: 'cancel', by: 'ada', reason: null })
    .catch((error: unknown) => error)
  await engine.unhalt('ada', 'go')
  expect((await waiting).ended).toBe('succeeded')
  await second
  await cancelling
  cluster.slow = 20
  const third = start('r3', 'n3')
  const orders = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      engine
        .order('r3', { type: n % 2 === 0 ? 'pause' : 'unpause', by: 'ada', reason: null })
        .catch(() => null),
    ),
  )
  expect(orders).toHaveLength(6)
  await third
  while ((await store.openRuns()).includes('r3')) {
    await engine.order('r3', { type: 'unpause', by: 'ada', reason: null }).catch(() => null)
    await sleep(10)
  }
  expect(cluster.done.filter((line) => line.endsWith('n3'))).toEqual(['cordon n3', 'drain n3'])
  await close()
})
