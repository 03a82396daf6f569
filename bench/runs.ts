import { createPublicKey, verify } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '../src/agent/agent.ts'
import { EmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts'
import { agentWork } from '../src/engine/agent-work.ts'
import { openKeyRing } from '../src/journal/chain-keys.ts'
import { exportChains } from '../src/journal/export-chains.ts'
import { loadSqlite } from '../src/journal/load-sqlite.ts'
import { SqliteJournal } from '../src/journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../src/playbook/define-playbook.ts'
import { compilePolicy, type CompiledPolicy } from '../src/policy/compile-policy.ts'
import { decide } from '../src/policy/decide.ts'
import { parsePolicy } from '../src/policy/parse-policy.ts'
import { nativeHash } from '../src/report/native-hash.ts'
import { crewFor, verifyBytes, type Crew } from '../src/report/verify-bytes.ts'
import { tool } from '../src/tool/tool.ts'
import { microseconds, percentile, times, type BenchOptions, type Row } from './measure.ts'

const steps = 5

const playbook = definePlaybook({
  id: 'five',
  name: 'Five instant steps',
  inputs: { order: 'string' },
  steps: Array.from({ length: steps }, (_, n) => ({
    id: `s${n}`,
    tool: `t${n}`,
    input: { order: '{inputs.order}', amount: 30 + n },
  })),
})

const waits: number[] = []

const tools = Array.from({ length: steps }, (_, n) =>
  tool({
    name: `t${n}`,
    description: 'Is there at once.',
    risk: 'write',
    execute: () => ({ done: n, order: 'ORD-42' }),
  }),
)

/**
 * Durable runs: the gate, a policy of 100 rules, the journal with its chain, full sync; beside what a disk and a hash can do at most. With a `scale`
 * of less than 1 the sizes are that much smaller, for a quick look.
 */
export async function run({ scale }: BenchOptions = { scale: 1 }): Promise<Row[]> {
  const size = (full: number) => Math.max(1, Math.ceil(full * scale))
  // A server runs for weeks: what is measured is code that is compiled already.
  await withEngine((world) => drive(world, 100, size(3_000), 'warm'))
  const commits = syncedCommits()
  const rows: Row[] = [
    {
      what: 'SQLite alone, one synced commit after another',
      unit: 'commits/s',
      p50: commits,
      p99: null,
      goal: null,
    },
  ]
  for (const [atOnce, total, goal] of [
    [1, size(600), 400],
    [100, size(6_000), 2_000],
    [1_000, size(8_000), null],
  ] as const) {
    rows.push(...(await throughput(atOnce, total, goal, commits)))
  }
  rows.push(
    ...(await growth(size(1_000_000))),
    await recovery(size(10_000)),
    ...(await verifying(size(4_000))),
    ...policies(),
  )
  return rows
}

function rules(count: number): CompiledPolicy {
  const source = {
    id: 'bench',
    risk: { irreversible: 'allow' },
    rules: Array.from({ length: count }, (_, n) => ({
      id: `r${n}`,
      tool: n < steps ? `t${n}` : `other${n}`,
      require: 'args.amount <= 100 and inputs.order != ""',
    })),
  }
  const { policy } = parsePolicy(JSON.stringify(source), { format: 'json' })
  if (policy === null) throw new Error('the policy of the bench has problems')
  return compilePolicy(policy)
}

interface World {
  readonly engine: EmbeddedEngine
  readonly store: SqliteJournal
  readonly begin: (run: string) => Promise<unknown>
}

async function withEngine<Result>(
  work: (world: World) => Promise<Result>,
  folder = temporary(),
  keep = false,
): Promise<Result> {
  const store = new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const principal = { id: 'ada', kind: 'local', roles: ['sre'] } as const
  const policy = { policies: [rules(100)], principal }
  const engine: EmbeddedEngine = await EmbeddedEngine.open({
    store,
    load: async (name) => agentWork(agent, name, { prompt: '' }),
    onTrouble: (_, error) => {
      throw error
    },
  })
  const agent = new Agent({ playbook, tools, journal: engine.journal, model: 'none', policy })
  try {
    const begin = (name: string) =>
      engine.start(name, agentWork(agent, name, { prompt: '', inputs: { order: 'ORD-42' } }))
    return await work({ engine, store, begin })
  } finally {
    await engine.close({ graceMs: 0 })
    await store.close()
    if (!keep) rmSync(folder, { recursive: true, force: true })
  }
}

function temporary(): string {
  return mkdtempSync(join(tmpdir(), 'lockstep-bench-'))
}

/** Begins runs so that as many as given are under way, and gives how long all of them took, in seconds. */
async function drive({ begin }: World, atOnce: number, total: number, prefix: string): Promise<number> {
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < total) {
        const from = performance.now()
        await begin(`${prefix}${next++}`)
        waits.push((performance.now() - from) / steps)
      }
    }),
  )
  return (performance.now() - start) / 1000
}

async function throughput(
  atOnce: number,
  total: number,
  goal: number | null,
  commits: number,
): Promise<Row[]> {
  return await withEngine(async (world) => {
    // The log of a new store grows before it is written over, which a disk takes longer for.
    await drive(world, Math.max(atOnce, 100), Math.max(500, Math.ceil(total / 10)), 'warm')
    waits.length = 0
    const before = process.threadCpuUsage()
    const seconds = await drive(world, atOnce, total, 'r')
    const { user, system } = process.threadCpuUsage(before)
    const rate = total / seconds
    const what = `${atOnce.toLocaleString('en')} at once`
    const row = (name: string, unit: Row['unit'], p50: number): Row => ({
      what: `${name}, ${what}`,
      unit,
      p50,
      p99: null,
      goal: null,
    })
    return [
      { ...row('durable runs', 'runs/s', rate), goal, atLeast: true },
      row('durable steps', 'steps/s', rate * steps),
      { ...row('processor time of a run', 'µs', (user + system) / total), goal: atOnce === 100 ? 500 : null },
      {
        what: `a step, ${what}`,
        unit: 'ms',
        p50: percentile(waits, 0.5),
        p99: percentile(waits, 0.99),
        goal: null,
      },
      row('runs for each commit that SQLite alone could make', '×', rate / commits),
    ]
  })
}

/** What the disk does with one row after another, each of them synced. */
function syncedCommits(): number {
  const folder = temporary()
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(folder, 'x.db'))
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)',
  )
  const insert = database.prepare('INSERT INTO t (body) VALUES (?)')
  const body = Buffer.alloc(600)
  const total = 1_500
  const start = performance.now()
  for (let n = 0; n < total; n++) insert.run(body)
  const seconds = (performance.now() - start) / 1000
  database.close()
  rmSync(folder, { recursive: true, force: true })
  return total / seconds
}

/** The same with many entries in the store already. */
async function growth(entries: number): Promise<Row[]> {
  return await withEngine(async (world) => {
    const measure = async (prefix: string) => {
      const seconds: number[] = []
      for (let n = 0; n < 3; n++) seconds.push((await drive(world, 100, 1_000, `${prefix}${n}_`)) / 1_000)
      return percentile(seconds, 0.5) * 1e6
    }
    await drive(world, 100, 500, 'warm')
    const before = await measure('a')
    await prefill(world.store, entries)
    const after = await measure('b')
    return [
      { what: 'a run in an empty store, 100 at once', unit: 'µs', p50: before, p99: null, goal: null },
      {
        what: `a run behind ${entries.toLocaleString('en')} entries`,
        unit: 'µs',
        p50: after,
        p99: null,
        goal: null,
      },
      {
        what: `growth of the cost with ${entries.toLocaleString('en')} entries`,
        unit: '×',
        p50: after / before,
        p99: null,
        goal: 1.25,
      },
    ]
  })
}

/** Entries of finished runs, in large appends that nobody waits for. */
async function prefill(store: SqliteJournal, entries: number): Promise<void> {
  const author = { tenant: 'local', principal: 'ada' }
  const facts = Array.from({ length: 100 }, (_, n) => ({
    type: n === 99 ? 'run.finished' : 'tool.settled',
    at: n,
    data: { callId: `s${n}`, outcome: 'succeeded', status: 'succeeded', result: { done: n } },
  }))
  for (let run = 0; run < entries / 100; run += 100) {
    const names = Array.from({ length: 100 }, (_, n) => `old${run + n}`)
    await Promise.all(
      names.map((name) => store.append(name, facts, { ...author, expectedSeq: 0, lazy: true })),
    )
  }
}

/** A store with many runs that were cut off in the middle: how long until all of them have ended. */
async function recovery(open: number): Promise<Row> {
  const folder = temporary()
  await withEngine(
    async ({ store }) => {
      // What a run has written when its first call is in flight; its process is gone before anybody knows how it ended.
      const template = await recordOfOne()
      const author = { tenant: 'local', principal: 'local' }
      for (let run = 0; run < open; run += 500) {
        const names = Array.from({ length: Math.min(500, open - run) }, (_, n) => `cut${run + n}`)
        await Promise.all(
          names.map((name) =>
            store.append(
              name,
              template.map((fact) => ({
                ...fact,
                data: { ...fact.data, ...('run' in fact.data ? { run: name } : {}) },
              })),
              {
                ...author,
                expectedSeq: 0,
                lazy: true,
              },
            ),
          ),
        )
      }
    },
    folder,
    true,
  )
  return await withEngine(async ({ engine, store }) => {
    const start = performance.now()
    await engine.recover()
    await engine.idle()
    const seconds = (performance.now() - start) / 1000
    const left = await store.openRuns()
    if (left.length > 0) throw new Error(`${left.length} runs were not brought to their end`)
    return {
      what: `taking up ${open.toLocaleString('en')} open runs, until all have ended`,
      unit: 's',
      p50: seconds,
      p99: null,
      goal: null,
    }
  }, folder)
}

/** The facts of a run of which two steps are done. */
async function recordOfOne() {
  return await withEngine(async ({ begin, store }) => {
    await begin('one')
    const entries = await store.read('one')
    const second = entries.findIndex(({ type, data }) => type === 'tool.settled' && data['callId'] === 's1')
    const facts = entries.slice(0, second + 1).map(({ type, at, data }) => ({ type, at, data }))
    // The next call's intent is written with the outcome before it, so what follows that outcome is cut off whole.
    return facts
  })
}

/** What `lockstep verify` does with an export of many runs, on one core and on all of them, starting its threads included. */
async function verifying(runs: number): Promise<Row[]> {
  const lines = await withEngine(async (world) => {
    await drive(world, 100, runs, 'v')
    const { store } = world
    return await exportChains(store, await store.runs(), { tenants: ['local'] })
  })
  const bytes = Buffer.from(lines.join('\n'))
  const megabytes = bytes.length / 1e6
  const keys = new Map<string, ReturnType<typeof createPublicKey>>()
  const verifySignature = (key: string, text: string, signature: string) => {
    if (!keys.has(key)) keys.set(key, createPublicKey(key))
    return verify(null, Buffer.from(text), keys.get(key)!, Buffer.from(signature, 'hex'))
  }
  const rate = async (work: () => unknown) => {
    await work()
    const samples: number[] = []
    for (let sample = 0; sample < 5; sample++) {
      const start = performance.now()
      await work()
      samples.push((performance.now() - start) / 1000)
    }
    return megabytes / percentile(samples, 0.5)
  }
  const check = (crew?: Crew) => async () => {
    const { verdict } = await verifyBytes(bytes, { verifySignature }, crew)
    if (verdict !== 'consistent') throw new Error(`the export is ${verdict}`)
  }
  const crew = { ...crewFor(bytes.length), threads: availableParallelism() - 1 }
  const hashed = await rate(() => lines.forEach(nativeHash))
  const one = await rate(check({ ...crew, threads: 0 }))
  const all = await rate(check(crew))
  const row = (what: string, unit: Row['unit'], p50: number, goal: number | null = null): Row => ({
    what,
    unit,
    p50,
    p99: null,
    goal,
    atLeast: true,
  })
  const threads = `${crew.threads + 1} threads`
  return [
    row('plain SHA-256 of an export, entry by entry', 'MB/s', hashed),
    row(`verifying ${megabytes.toFixed(1)} MB, one thread`, 'MB/s', one),
    row(`the same, ${threads}`, 'MB/s', all),
    row('verifying against plain SHA-256, one thread', '×', one / hashed),
    row(`the same, ${threads}`, '×', all / hashed, 0.25),
  ]
}

function policies(): Row[] {
  const facts = {
    now: 1_790_000_000_000,
    principal: { id: 'ada', kind: 'local', roles: ['sre'] },
    mode: 'execute',
    inputs: { order: 'ORD-42' },
    context: {},
    past: null,
    counters: {},
    spent: { run: {}, day: {} },
    breakGlass: null,
  } as const
  const request = {
    tool: 't0',
    args: { order: 'ORD-42', amount: 30 },
    step: 's0',
    risk: 'write',
    target: null,
  } as const
  return [1, 100, 1_000].map((count) => {
    const policy = [rules(count)]
    const samples = microseconds(
      () => policy,
      (given) => void decide(given, request, facts),
      { group: 200, samples: 200 },
    )
    return times(`a policy decides, ${count.toLocaleString('en')} rules`, samples, count === 100 ? 10 : null)
  })
}
