import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Agent } from '../agent/agent.ts'
import { agentWork } from '../engine/agent-work.ts'
import { EmbeddedEngine } from '../engine/embedded/embedded-engine.ts'
import { openKeyRing } from '../journal/chain-keys.ts'
import type { JournalFact } from '../journal/journal.ts'
import { SqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { compilePolicy } from '../policy/compile-policy.ts'
import { policyOf } from '../policy/policy.ts'
import { policySchema } from '../policy/policy-schema.ts'
import { tool } from '../tool/tool.ts'
import { Overview, type OverviewOptions } from './overview.ts'

const playbook = definePlaybook({
  id: 'cordon',
  name: 'Cordon a node',
  inputs: { node: 'string' },
  steps: [
    { id: 'look', tool: 'look', input: { node: '{inputs.node}' } },
    { id: 'drain', tool: 'drain', input: { node: '{inputs.node}' } },
  ],
})
const source = {
  id: 'careful',
  version: '1',
  roles: ['ops', 'oncall'],
  tool_allowlist: { ops: ['*'] },
  approvals: [{ id: 'two-eyes', step: 'drain', required_roles: ['oncall'] }],
}
const tools = [
  tool({ name: 'look', description: 'Looks.', risk: 'read', execute: () => ({ ok: true }) }),
  tool({ name: 'drain', description: 'Drains.', risk: 'write', execute: () => ({ ok: true }) }),
]
const local = { tenant: 'local', projects: null }
const page = { limit: 50 }

async function world(options: Partial<OverviewOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-overview-'))
  const openStore = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const store = openStore()
  const open = async () =>
    await Overview.open({ path: join(folder, 'views.db'), store, everyMs: 0, ...options })
  let views = await open()
  const reopen = async () => {
    await views.close()
    views = await open()
    return views
  }
  const start = async (run: string, facts: readonly JournalFact[] = [], tenant = 'local', at = 1000) => {
    const begun: JournalFact[] = [
      { type: 'run.started', at, data: { playbook: 'sha256:0123456789abcdef', inputs: {} } },
      ...facts,
    ]
    return await store.append(run, begun, { tenant, principal: 'ann', expectedSeq: 0 })
  }
  return { folder, openStore, store, open, reopen, start, views }
}

const finished = (status: string, at: number, message: string | null = null): JournalFact => ({
  type: 'run.finished',
  at,
  data: { status, message },
})

describe('Overview', () => {
  test('tells a governed run as it goes on: held, approved, done', async () => {
    const { store, views } = await world()
    const policies = [compilePolicy(policyOf(policySchema.parse(source), source))]
    const policy = { policies, principal: { id: 'ann', kind: 'local', roles: ['ops'] } as const }
    const load = async (run: string) => {
      const setup = { playbook, tools, journal: engine.journal, model: 'none', policy, principal: 'ann' }
      return agentWork(new Agent(setup), run, { prompt: '', inputs: { node: 'n1' } })
    }
    const engine: EmbeddedEngine = await EmbeddedEngine.open({
      store,
      load,
      onEntries: (run, entries) => views.hear(run, entries),
    })
    await engine.start('r_1', await load('r_1'))
    expect(await views.run('local', 'r_1')).toMatchObject({
      status: 'waiting',
      waiting: 1,
      calls: 1,
      playbook: 'Cordon a node',
      startedBy: 'ann',
      mode: 'execute',
      cost: 0,
      endedAt: null,
    })
    const { items } = await views.approvals(local, { state: 'waiting', ...page })
    expect(items).toMatchObject([{ run: 'r_1', tool: 'drain', step: 'drain', state: 'waiting' }])
    const [{ call }] = items as [(typeof items)[0]]
    const vote = {
      person: 'bob',
      identity: 'local',
      roles: ['oncall'],
      answer: 'approve',
      reason: null,
    } as const
    const rest = engine.nextRest('r_1')
    expect(await engine.vote('r_1', call, vote)).toEqual({ comesTo: 'granted' })
    expect(await rest).toMatchObject({ ended: 'succeeded' })
    expect(await views.run('local', 'r_1')).toMatchObject({ status: 'succeeded', waiting: 0, calls: 2 })
    expect(await views.approvals(local, { state: 'waiting', ...page })).toMatchObject({ items: [] })
    const decided = await views.approvals(local, { state: 'decided', ...page })
    expect(decided.items).toMatchObject([{ id: items[0]!.id, state: 'used' }])
    await engine.close()
  })

  test('V1, V2: what was missed is found again, and a closed view goes on where it was', async () => {
    const { start, store, views, reopen } = await world()
    views.hear('r_1', await start('r_1'))
    await start('r_2')
    const author = { tenant: 'local', principal: 'ann', expectedSeq: 1 }
    const [paused] = await store.append(
      'r_1',
      [{ type: 'run.paused', at: 2000, data: { by: 'ann', reason: 'lunch' } }],
      author,
    )
    const [on] = await store.append(
      'r_1',
      [{ type: 'run.unpaused', at: 2500, data: { by: 'ann', reason: null } }],
      { ...author, expectedSeq: 2 },
    )
    // The entry before it was not heard of.
    views.hear('r_1', [on!])
    expect(await views.run('local', 'r_1')).toMatchObject({ entries: 3, status: 'running' })
    expect(await views.run('local', 'r_2')).toBeNull()
    await views.catchUp()
    expect(await views.run('local', 'r_2')).toMatchObject({ status: 'running' })
    // Twice the same changes nothing.
    views.hear('r_1', [paused!])
    expect(await views.run('local', 'r_1')).toMatchObject({ entries: 3, status: 'running' })
    await store.append('r_2', [finished('failed', 3000, 'it broke')], author)
    expect(await (await reopen()).run('local', 'r_2')).toMatchObject({ status: 'failed', reason: 'it broke' })
  })

  test('finds by itself what another process has written', async () => {
    const { openStore, views } = await world({ everyMs: 5 })
    const other = openStore()
    const begun = { type: 'run.started', at: 1000, data: { playbook: 'sha256:1', inputs: {} } }
    await other.append('r_there', [begun], { tenant: 'local', principal: 'bob', expectedSeq: 0 })
    while ((await views.run('local', 'r_there')) === null)
      await new Promise((resolve) => setTimeout(resolve, 5))
    await other.append('r_there', [finished('cancelled', 2000)], {
      tenant: 'local',
      principal: 'bob',
      expectedSeq: 1,
    })
    while ((await views.run('local', 'r_there'))?.status !== 'cancelled')
      await new Promise((resolve) => setTimeout(resolve, 5))
    await other.close()
    await views.close()
  })

  test('V4: views that go on from another store are made anew', async () => {
    const one = await world()
    await one.start('r_old')
    await one.views.catchUp()
    await one.views.close()
    const other = await world()
    await other.start('r_new')
    await other.start('r_newer')
    const views = await Overview.open({ path: join(one.folder, 'views.db'), store: other.store, everyMs: 0 })
    const { items } = await views.runs(local, page)
    expect(items.map(({ run }) => run).sort()).toEqual(['r_new', 'r_newer'])
  })

  test('an erased run keeps its place and nothing else', async () => {
    const { start, store, views } = await world()
    await start('r_1', [finished('failed', 2000, 'the address of a person')])
    await views.catchUp()
    expect((await views.runs(local, { ...page, search: 'address' })).items).toHaveLength(1)
    await store.erase('r_1', { tenant: 'local', principal: 'ann', at: 3000 })
    await views.catchUp()
    expect(await views.run('local', 'r_1')).toMatchObject({ status: 'unreadable', reason: null })
    expect((await views.runs(local, { ...page, search: 'address' })).items).toEqual([])
  })

  test('lists by every filter, page after page, and shows nothing of another tenant or project', async () => {
    const { start, views } = await world()
    const origin = (project: string, id: string): JournalFact => ({
      type: 'agent.prompted',
      at: 1000,
      data: {
        text: '',
        origin: { project, runbook: { id, name: `Name of ${id}`, version: 3 }, model: 'stub' },
      },
    })
    for (let n = 0; n < 10; n++)
      await start(
        `r_run${n}`,
        [
          origin(n % 2 === 0 ? 'prj_a' : 'prj_b', n < 5 ? 'rb_one' : 'rb_two'),
          ...(n % 3 === 0 ? [finished('failed', 5000 + n, `reason number ${n}`)] : []),
        ],
        'local',
        1000 + n,
      )
    await start('r_other', [origin('prj_a', 'rb_one')], 'other')
    await views.catchUp()
    const names = async (filter: object, projects: readonly string[] | null = null) => {
      const found: string[] = []
      let after: number | null = null
      do {
        const { items, next } = await views.runs(
          { tenant: 'local', projects },
          { limit: 3, after, ...filter },
        )
        expect(items.length).toBeLessThanOrEqual(3)
        found.push(...items.map(({ run }) => run.slice('r_run'.length)))
        after = next
      } while (after !== null)
      return found.join('')
    }
    expect(await names({})).toBe('9876543210')
    expect(await names({ status: 'failed' })).toBe('9630')
    expect(await names({ status: 'failed', runbook: 'rb_two' })).toBe('96')
    expect(await names({ runbook: 'Name of rb_one' })).toBe('43210')
    expect(await names({ search: 'NUMBER rea' })).toBe('9630')
    expect(await names({ search: 'numbered' })).toBe('')
    expect(await names({ search: 'rb_two' })).toBe('98765')
    expect(await names({ search: 'r_run4' })).toBe('4')
    expect(await names({ search: '"; DROP TABLE runs --' })).toBe('')
    expect(await names({ search: '***' })).toBe('')
    expect(await names({ from: 1003, to: 1006 })).toBe('543')
    expect(await names({ startedBy: 'bob' })).toBe('')
    expect(await names({ mode: 'dry-run' })).toBe('')
    expect(await names({}, ['prj_a'])).toBe('86420')
    expect(await names({}, ['prj_a', 'prj_b'])).toBe('9876543210')
    expect(await names({}, [])).toBe('')
    expect(await views.run('local', 'r_other')).toBeNull()
    expect(await views.run('local', 'r_run3')).toMatchObject({
      runbook: { id: 'rb_one', name: 'Name of rb_one', version: 3 },
      project: 'prj_b',
      model: 'stub',
    })
  })

  test('an approval that nobody gave in time waits no longer, without anybody writing so', async () => {
    let now = 2000
    const { start, views } = await world({ now: () => now })
    const decision = { rule: 'r', policy: null, reason: 'token=abcdefgh12345678 is needed' }
    const held = { callId: '1', tool: 'drain', args: {}, step: null, demands: [], expiresAt: 3000 }
    await start('r_1', [{ type: 'tool.held', at: 1500, data: { ...held, policy: { decision } } }])
    await views.catchUp()
    const { items } = await views.approvals(local, { state: 'waiting', ...page })
    expect(items).toMatchObject([{ state: 'waiting', reason: expect.not.stringContaining('abcdefgh') }])
    now = 3000
    expect((await views.approvals(local, { state: 'waiting', ...page })).items).toEqual([])
    expect(await views.run('local', 'r_1')).toMatchObject({ status: 'running', waiting: 0 })
    expect(await views.approval('local', items[0]!.id)).toMatchObject([{ state: 'expired' }])
  })

  test('works figures out over a time: counts, percentiles, cost and those without a price', async () => {
    const { start, views } = await world()
    const day = 86_400_000
    const spent = (cost?: number): JournalFact => ({
      type: 'model.answered',
      at: 1,
      data: {
        number: 1,
        calls: [],
        promptTokens: 10,
        completionTokens: 5,
        ...(cost === undefined ? {} : { cost }),
      },
    })
    for (let n = 1; n <= 20; n++) {
      const at = n <= 10 ? day : 3 * day
      await start(
        `r_${n}`,
        [spent(n === 20 ? undefined : 0.5), finished(n <= 15 ? 'succeeded' : 'failed', at + n * 100)],
        'local',
        at,
      )
    }
    await start('r_open', [], 'local', day + 1)
    await views.catchUp()
    const query = { from: day, to: 4 * day, bucket: 'day', top: 5 } as const
    const { totals, series, runbooks } = await views.analytics(local, query)
    expect(totals).toEqual({
      runs: 21,
      succeeded: 15,
      failed: 5,
      cancelled: 0,
      open: 1,
      cost: 9.5,
      unpriced: 1,
      tokens: 300,
      p50Ms: 1000,
      p95Ms: 1900,
    })
    expect(series.map(({ at, runs, p50Ms }) => [at / day, runs, p50Ms])).toEqual([
      [1, 11, 500],
      [2, 0, null],
      [3, 10, 1500],
    ])
    expect(runbooks).toMatchObject([{ runs: 21 }])
    expect((await views.analytics({ tenant: 'local', projects: [] }, query)).totals.runs).toBe(0)
  })
})
