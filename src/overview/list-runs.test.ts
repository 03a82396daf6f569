import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { ownTime } from '../shared/own-time.suite.ts'
import { listApprovals, listRuns, type RunFilter } from './list-runs.ts'
import type { CardStatus, RunCard } from './run-card.ts'
import { ViewWriter } from './view-writer.ts'
import { openViews } from './views-database.ts'

const statuses = ['running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const satisfies CardStatus[]

function card(n: number): RunCard {
  return {
    run: `r_${String(n).padStart(8, '0')}`,
    tenant: n % 50 === 0 ? 'other' : 'local',
    project: `prj_${n % 3}`,
    runbook: { id: `rb_${n % 7}`, name: `Playbook ${n % 7}`, version: 1 },
    playbook: `Playbook ${n % 7}`,
    digest: null,
    mode: n % 4 === 0 ? 'dry-run' : 'execute',
    status: statuses[n % statuses.length]!,
    reason: n % 11 === 0 ? `the disk ${n} was full` : null,
    // Many begin in the same moment.
    startedAt: 1_800_000_000_000 + Math.floor(n / 10),
    endedAt: null,
    lastAt: 1_800_000_000_000 + n,
    startedBy: `person${n % 5}@local`,
    model: null,
    calls: 3,
    denied: 0,
    tokens: 10,
    cost: 0.1,
    waiting: 0,
    parent: null,
    entries: 10,
  }
}

function filled(count: number): DatabaseSync {
  const database = openViews(':memory:')
  const writer = new ViewWriter(database)
  database.exec('BEGIN')
  for (let n = 0; n < count; n++) writer.save(card(n), [])
  database.exec('COMMIT')
  return database
}

const from = 1_800_000_000_000
const filters: readonly Omit<RunFilter, 'limit'>[] = [
  {},
  { status: 'failed' },
  { runbook: 'rb_3' },
  { runbook: 'Playbook 3' },
  { mode: 'dry-run' },
  { startedBy: 'person1@local' },
  { status: 'failed', runbook: 'rb_3' },
  { status: 'failed', startedBy: 'person3@local' },
  { search: 'disk' },
  { search: 'playb' },
  { search: 'Playbook full', status: 'failed' },
  { search: 'r_0000001' },
  { from: from + 2, to: from + 9 },
  { after: (from + 5) * 1000 },
  { search: 'disk', after: (from + 5) * 1000 },
]
const scopes = [
  { tenant: 'local', projects: null },
  { tenant: 'local', projects: ['prj_1'] },
  { tenant: 'local', projects: ['prj_0', 'prj_2'] },
]

describe('listRuns', () => {
  test('shows what the filter lets through, the newest first, and every page once', () => {
    const all = Array.from({ length: 1000 }, (_, n) => card(n))
    const database = filled(all.length)
    for (const scope of scopes)
      for (const filter of filters) {
        const found: string[] = []
        let after: number | null | undefined = filter.after
        do {
          const page = listRuns(database, scope, { ...filter, after, limit: 17 })
          found.push(...page.items.map(({ run }) => run))
          after = page.next
        } while (after !== null)
        const wanted = all.filter((each) => lets(each, scope.projects, filter)).map(({ run }) => run)
        expect([filter, found]).toEqual([filter, wanted.toReversed()])
      }
  })

  test('reads a page from its place in an index: nothing is sorted, and no table is looked through', () => {
    const database = filled(1000)
    const plans: string[] = []
    const spied = {
      prepare: (sql: string) => ({
        all: (...values: SQLInputValue[]) => {
          const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
          plans.push(...steps.map(({ detail }) => `${String(detail)}   ${sql}`))
          return []
        },
      }),
    } as unknown as DatabaseSync
    for (const scope of scopes) for (const filter of filters) listRuns(spied, scope, { ...filter, limit: 50 })
    for (const scope of scopes)
      for (const state of ['waiting', 'decided', 'all'] as const)
        listApprovals(spied, scope, { state, limit: 50 })
    expect(plans.length).toBeGreaterThan(filters.length)
    const named = plans.filter((plan) => plan.includes('run >= ?') && !plan.includes('TEMP B-TREE'))
    expect(named.every((plan) => plan.includes('run>? AND run<?'))).toBe(true)
    // What begins like a run's name is few, and may be put in order.
    const wrong = plans.filter(
      (plan) => /TEMP B-TREE|^SCAN (?!run_words)/.test(plan) && !plan.includes('run >= ?'),
    )
    expect(wrong).toEqual([])
  })

  test('costs no more of ten thousand runs than of a few hundred', () => {
    // Of either there are enough for a page.
    const both = [filled(400), filled(10_000)]
    const asked = filters.filter(({ after }) => after === undefined)
    const costs = [Infinity, Infinity]
    // The least of several times, and all questions together: what else the machine does disturbs one of them at most.
    for (let round = 0; round < 7; round++)
      for (const [index, database] of both.entries()) {
        const began = ownTime()
        for (let n = 0; n < 10; n++)
          for (const filter of asked) listRuns(database, scopes[0]!, { ...filter, limit: 10 })
        costs[index] = Math.min(costs[index]!, ownTime() - began)
      }
    // Looking through all of them would cost 25 times as much.
    expect(costs[1]! / costs[0]!).toBeLessThan(6)
  })
})

function lets(each: RunCard, projects: readonly string[] | null, filter: Omit<RunFilter, 'limit'>): boolean {
  const { status, runbook, mode, startedBy, search, from: begin, to, after } = filter
  const text = `${each.playbook} ${each.reason ?? ''} ${each.startedBy}`.toLowerCase()
  const words = (search ?? '').toLowerCase().split(/[\s_]+/)
  return (
    each.tenant === 'local' &&
    (projects === null || projects.includes(each.project!)) &&
    (status === undefined || each.status === status) &&
    (runbook === undefined || runbook === each.runbook!.id || runbook === each.runbook!.name) &&
    (mode === undefined || each.mode === mode) &&
    (startedBy === undefined || each.startedBy === startedBy) &&
    (search === undefined ||
      (search.startsWith('r_')
        ? each.run.startsWith(search)
        : words.every((word) => new RegExp(`\\b${word}`).test(text)))) &&
    (begin === undefined || each.startedAt >= begin) &&
    (to === undefined || each.startedAt < to) &&
    (after == null || each.startedAt * 1000 < after)
  )
}
