import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openKeyRing } from '../journal/chain-keys.ts'
import type { Journal } from '../journal/journal.ts'
import { MemoryJournal } from '../journal/memory/memory-journal.ts'
import { SqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { compilePolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { PlaybookEnforcer } from './playbook-enforcer.ts'
import { RunRecord } from './run-record.ts'
import { ToolFailure } from './tool-failure.ts'
import { tool } from './tool.ts'

const playbook = definePlaybook({
  id: 'nodes',
  name: 'Nodes',
  steps: [{ id: 'work', description: 'Work on nodes.', expectedTools: ['drain', 'look'] }],
})

function policyOf(source: string) {
  const { policy, diagnostics } = parsePolicy(source, { format: 'yaml' })
  if (policy === null) throw new Error(diagnostics.map(({ message }) => message).join('; '))
  return compilePolicy(policy)
}

/** Runs that share a store, a clock and a cluster. */
class Site {
  readonly drained: string[] = []
  now = Date.UTC(2026, 0, 5, 12)
  broken: (() => void) | null = null
  readonly #policy: string
  #runs = 0

  constructor(policy: string) {
    this.#policy = policy
  }

  run(
    journal: Journal,
    { principal = 'ada', name = `r${++this.#runs}`, mode = 'execute' as 'execute' | 'dry-run' } = {},
  ) {
    const record = new RunRecord(name, journal, { tenant: 'acme', principal: 'writer' })
    const drain = tool({
      name: 'drain',
      description: 'Drains a node.',
      risk: 'write',
      target: ({ node }) => String(node),
      execute: ({ node }) => {
        this.broken?.()
        this.drained.push(String(node))
      },
    })
    const look = tool({ name: 'look', description: 'Looks.', risk: 'read', execute: () => 'fine' })
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
      run: name,
      tools: [drain, look],
      clock: () => this.now,
      onEvents: (events) => record.write(events),
      policy: {
        policies: [policyOf(this.#policy)],
        principal: { id: principal, kind: 'local', roles: [] },
        mode,
        shared: journal.ledger === undefined ? undefined : { ledger: journal.ledger, tenant: 'acme' },
      },
    })
    /** How it ended, or by which code of the policies it was denied. */
    const drainNode = async (node = 'n1') => {
      const { status } = await enforcer.call('drain', { node })
      await enforcer.written()
      if (status !== 'denied') return status
      const { policy } = record.entries.findLast(({ type }) => type === 'tool.denied')!.data
      return (policy as { decision: { code: string } }).decision.code
    }
    return { enforcer, record, drain: drainNode }
  }
}

const stores: [string, () => () => Journal][] = [
  [
    'memory',
    () => {
      const journal = new MemoryJournal()
      return () => journal
    },
  ],
  [
    'SQLite',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'lockstep-counts-'))
      return () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
    },
  ],
]

describe.each(stores)('limits over several runs, counted in %s', (_name, create) => {
  const hourly = (more: string) => `{ id: p, limits: [{ tool: drain, per: 1h, ${more} }] }`

  test('W1: of runs that ask at once, as many pass as there are places', async () => {
    const open = create()
    const site = new Site(hourly('max_calls: 3'))
    const runs = Array.from({ length: 9 }, () => site.run(open()))
    const ended = await Promise.all(runs.map(({ drain }, n) => drain(`n${n}`)))
    expect(ended.filter((each) => each === 'succeeded')).toHaveLength(3)
    expect(ended.filter((each) => each === 'policy_rate_limit')).toHaveLength(6)
    expect(site.drained).toHaveLength(3)
    // Who saw that it was too late has given its place back.
    const call = { run: 'asker', callId: 'c', tool: 'drain', target: null, at: site.now }
    const question = { tenant: 'acme', principal: 'ada', call, windows: [], dayBegan: 0 }
    expect((await open().ledger!.count(question)).day.calls).toBe(3)
  })

  test('W1: what was counted is recorded with the decision, and the run goes on after a denial', async () => {
    const open = create()
    const site = new Site(hourly('max_calls: 1'))
    expect(await site.run(open()).drain()).toBe('succeeded')
    const second = site.run(open())
    expect(await second.drain()).toBe('policy_rate_limit')
    const counters = { 'tenant/3600s:drain': { calls: 1, targets: 1, seen: true } }
    const denied = second.record.entries.find(({ type }) => type === 'tool.denied')!
    expect(denied.data['policy']).toMatchObject({
      decision: { reason: 'at most 1 calls in 1h per tenant, and there were 1' },
      facts: { counters },
    })
    expect((await second.enforcer.call('look', {})).status).toBe('succeeded')
    // The window slides: the first call falls out of it, to the millisecond.
    site.now += 3_600_000
    expect(await second.drain()).toBe('policy_rate_limit')
    site.now += 1
    expect(await second.drain()).toBe('succeeded')
  })

  test('a target that was acted on already takes no new place', async () => {
    const open = create()
    const site = new Site(hourly('max_targets: 2'))
    const [one, other] = [site.run(open()), site.run(open())]
    expect(await one.drain('a')).toBe('succeeded')
    expect(await Promise.all([one.drain('b'), other.drain('a')])).toEqual(['succeeded', 'succeeded'])
    expect(await Promise.all([one.drain('c'), other.drain('b')])).toEqual([
      'policy_blast_radius',
      'succeeded',
    ])
  })

  test('what was certainly not applied gives its place back, what may have been keeps it', async () => {
    const open = create()
    const site = new Site(hourly('max_calls: 1'))
    site.broken = () => {
      throw new ToolFailure('no such node')
    }
    expect(await site.run(open()).drain()).toBe('failed')
    site.broken = () => {
      throw new Error('the line is dead')
    }
    expect(await site.run(open()).drain()).toBe('unknown')
    site.broken = null
    expect(await site.run(open()).drain()).toBe('policy_rate_limit')
  })

  test('a limit per principal counts whom the policy judges, one per tenant everybody', async () => {
    const open = create()
    const site = new Site('{ id: p, limits: [{ max_calls: 1, per: 1h, scope: principal }] }')
    expect(await site.run(open()).drain()).toBe('succeeded')
    expect(await site.run(open()).drain()).toBe('policy_rate_limit')
    expect(await site.run(open(), { principal: 'bob' }).drain()).toBe('succeeded')
  })

  test('the budget of a day is that of all runs, and a new UTC day begins with nothing', async () => {
    const open = create()
    const site = new Site('{ id: p, budgets: { max_calls_per_day: 2, max_tokens_per_day: 100 } }')
    const runs = Array.from({ length: 4 }, () => site.run(open()))
    const ended = await Promise.all(runs.map(({ drain }) => drain()))
    expect(ended.toSorted()).toEqual(['policy_budget', 'policy_budget', 'succeeded', 'succeeded'])
    site.now = Date.UTC(2026, 0, 6) - 1
    expect(await runs[0]!.drain()).toBe('policy_budget')
    site.now += 1
    expect(await runs[0]!.drain()).toBe('succeeded')
    const answered = { type: 'model.answered', at: site.now, promptTokens: 90, completionTokens: 10 }
    await runs[1]!.record.write([answered])
    expect(await runs[2]!.drain()).toBe('policy_budget')
    const spent = runs[2]!.record.entries.at(-1)!.data['policy']
    expect(spent).toMatchObject({ facts: { spent: { day: { calls: 1, tokens: 100 } } } })
  })

  test('W2: a call that waits for approval, or is denied by something else, holds no place', async () => {
    const open = create()
    const site = new Site(
      `{ id: p, limits: [{ tool: drain, per: 1h, max_calls: 1 }], rules: [{ tool: drain, require: 'args.node != "bad"' }] }`,
    )
    expect(await site.run(open()).drain('bad')).toBe('policy_rule')
    expect(await site.run(open()).drain('good')).toBe('succeeded')
    const soft = new Site(hourly('max_calls: 1, then: require_approval'))
    const other = create()
    const asked = [soft.run(other()), soft.run(other())].map(({ drain }) => drain())
    expect((await Promise.all(asked)).toSorted()).toEqual(['held', 'succeeded'])
    expect(soft.drained).toHaveLength(1)
  })

  test('W2: a dry run takes no place, and is told how many there are', async () => {
    const open = create()
    const site = new Site(hourly('max_calls: 1'))
    expect(await site.run(open(), { mode: 'dry-run' }).drain()).toBe('succeeded')
    expect(await site.run(open()).drain()).toBe('succeeded')
    expect(await site.run(open(), { mode: 'dry-run' }).drain()).toBe('policy_rate_limit')
  })

  test('W3: a store that cannot be asked has counted nothing, and the call is denied', async () => {
    const journal = create()()
    const site = new Site(hourly('max_calls: 5'))
    const asking = (ledger: Journal['ledger']) =>
      site.run({ append: journal.append.bind(journal), ledger } as Journal)
    expect(await asking(failingLedger()).drain()).toBe('policy_error')
    expect(await asking({ ...failingLedger(), count: (asked) => journal.ledger!.count(asked) }).drain()).toBe(
      'policy_error',
    )
    expect(await asking(undefined).drain()).toBe('policy_error')
    expect(site.drained).toEqual([])
    expect(await asking(journal.ledger).drain()).toBe('succeeded')
  })
})

function failingLedger(): NonNullable<Journal['ledger']> {
  const fail = async () => {
    throw new Error('the disk is gone')
  }
  return { count: fail, take: fail, giveBack: fail }
}

test('W2: the place of a run that was killed before its admission was written is free when that run ends', async () => {
  const open = stores[1]![1]()
  const journal = open()
  const site = new Site('{ id: p, limits: [{ tool: drain, per: 1h, max_calls: 1 }] }')
  const killed = site.run(journal)
  await killed.enforcer.written()
  const call = { run: 'r1', callId: 'lost', tool: 'drain', target: 'a', at: site.now }
  await journal.ledger!.take({ tenant: 'acme', principal: 'ada', call, windows: [], dayBegan: 0 })
  await journal.close()
  const again = open()
  expect(await site.run(again).drain()).toBe('policy_rate_limit')
  const entries = await again.read('r1')
  const finished = { type: 'run.finished', at: site.now, data: {} }
  await again.append('r1', [finished], { tenant: 'acme', principal: 'ada', expectedSeq: entries.length })
  expect(await site.run(again).drain()).toBe('succeeded')
})
