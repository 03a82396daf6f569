import { createHash, createPublicKey, hash, verify } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openKeyRing } from '../src/journal/chain-keys.ts'
import { exportChains } from '../src/journal/export-chains.ts'
import type { JournalFact } from '../src/journal/journal.ts'
import { SqliteJournal } from '../src/journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../src/playbook/define-playbook.ts'
import { verifyExport } from '../src/proof/verify-export.ts'
import { canonicalJson } from '../src/shared/canonical-json.ts'
import { digest } from '../src/shared/digest.ts'
import { PlaybookEnforcer } from '../src/tool/playbook-enforcer.ts'
import { RunRecord } from '../src/tool/run-record.ts'
import { percentile, type Row } from './measure.ts'

const author = { tenant: 'bench', principal: 'bench' }
const data = {
  callId: '1.s1-1',
  tool: 'lookup_order',
  args: { order_id: 'ORD-42', customer: 'C-7' },
  step: 'verify',
  extra: false,
}
const fact: JournalFact = { type: 'tool.admitted', at: 1_790_000_000_000, data }

const playbook = definePlaybook({
  id: 'bench',
  name: 'Bench',
  description: 'Looks and writes.',
  steps: Array.from({ length: 5 }, (_, n) => ({
    id: `s${n}`,
    description: 'A step.',
    expectedTools: [`t${n}`],
  })),
  rules: [{ tool: 't4', require: 'args.amount <= 100', message: 'too much' }],
})

/** Appends with the chain, the authentication, the encryption and full sync; and what verifying costs beside plain SHA-256. */
export async function run(): Promise<Row[]> {
  return [
    await appends('append, one writer', 1, 1500),
    await appends('append, 100 writers: each waits', 100, 100),
    await perAppend('append, 100 writers: cost of one', 100, 100),
    await perAppend('append, 1000 writers: cost of one', 1000, 20),
    ...(await verifying()),
  ]
}

async function withStore<Result>(work: (journal: SqliteJournal) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-bench-'))
  const journal = new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  try {
    return await work(journal)
  } finally {
    await journal.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Every writer appends to a run of its own, one entry after the other; gives the microseconds each waited. */
async function write(journal: SqliteJournal, writers: number, rounds: number): Promise<number[]> {
  const waits: number[] = []
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let seq = 0; seq < rounds; seq++) {
        const start = performance.now()
        await journal.append(`r${writer}`, [fact], { ...author, expectedSeq: seq })
        waits.push((performance.now() - start) * 1000)
      }
    }),
  )
  return waits
}

async function appends(what: string, writers: number, rounds: number): Promise<Row> {
  const waits = await withStore((journal) => write(journal, writers, rounds))
  return { what, unit: 'µs', p50: percentile(waits, 0.5), p99: percentile(waits, 0.99), goal: null }
}

async function perAppend(what: string, writers: number, rounds: number): Promise<Row> {
  const spent = await withStore(async (journal) => {
    const start = performance.now()
    await write(journal, writers, rounds)
    return ((performance.now() - start) * 1000) / (writers * rounds)
  })
  return { what, unit: 'µs', p50: spent, p99: null, goal: null }
}

/** Real runs, half of whose bytes are what a model wrote, as in a run of an agent. */
async function exported(): Promise<string[]> {
  return await withStore(async (journal) => {
    await journal.keep(canonicalJson(playbook.toJSON()))
    const words = 'The customer asked for the money back and the order was found. '.repeat(20)
    const runs = Array.from({ length: 400 }, (_, n) => `r${n}`)
    await Promise.all(
      runs.map(async (name) => {
        const record = new RunRecord(name, journal, author)
        const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
          run: name,
          onEvents: (events) => record.write(events),
        })
        for (let n = 0; n < 5; n++) {
          const said = { type: 'model.answered', at: 1, text: words, calls: [] }
          await record.write([said])
          await enforcer.call(`t${n}`, { amount: 30, order: 'ORD-42' }, async () => ({
            rows: [words],
            total: 30,
          }))
        }
        enforcer.finish('done')
        await enforcer.written()
      }),
    )
    return await exportChains(journal, runs, { tenants: ['bench'] })
  })
}

/** What verifying real runs costs, in milliseconds, beside plain SHA-256 over the same bytes. */
export interface VerifyCost {
  readonly megabytes: number
  /** The chain, the signatures and every decision, as `lockstep verify` does it. */
  readonly verify: number
  readonly verifyPortable: number
  readonly shaAtOnce: number
  /** One hash for each entry, as a chain takes at least. */
  readonly shaEntryByEntry: number
  readonly shaPortable: number
}

/** Measures verifying on one core. */
export async function measureVerify(): Promise<VerifyCost> {
  const lines = await exported()
  const bytes = Buffer.from(lines.join('\n'))
  const native = (text: string) => `sha256:${hash('sha256', text, 'hex')}`
  const keys = new Map<string, ReturnType<typeof createPublicKey>>()
  const verifySignature = (key: string, text: string, signature: string) => {
    if (!keys.has(key)) keys.set(key, createPublicKey(key))
    return verify(null, Buffer.from(text), keys.get(key)!, Buffer.from(signature, 'hex'))
  }
  // The time of the processor, not of the clock: whoever else is at work on the machine does not count.
  const time = (work: () => void) => {
    for (let warmUp = 0; warmUp < 5; warmUp++) work()
    const samples = Array.from({ length: 9 }, () => {
      const start = process.cpuUsage()
      work()
      const { user, system } = process.cpuUsage(start)
      return (user + system) / 1000
    })
    return percentile(samples, 0.5)
  }
  const check = (hashText: (text: string) => string) => () => {
    const { verdict } = verifyExport(lines, { verifySignature, hash: hashText })
    if (verdict !== 'consistent') throw new Error(`the export is ${verdict}`)
  }
  return {
    megabytes: bytes.length / 1e6,
    shaAtOnce: time(() => createHash('sha256').update(bytes).digest()),
    shaEntryByEntry: time(() => lines.forEach(native)),
    shaPortable: time(() => lines.forEach(digest)),
    verify: time(check(native)),
    verifyPortable: time(check(digest)),
  }
}

async function verifying(): Promise<Row[]> {
  const cost = await measureVerify()
  const row = (what: string, ms: number): Row => ({
    what: `${what}, ms for 1 MB`,
    unit: 'ms',
    p50: ms / cost.megabytes,
    p99: null,
    goal: null,
  })
  const ratio = (what: string, p50: number, goal: number | null): Row => ({
    what,
    unit: '×',
    p50,
    p99: null,
    goal,
  })
  return [
    row(`verify ${cost.megabytes.toFixed(1)} MB`, cost.verify),
    row('verify with the portable SHA-256', cost.verifyPortable),
    row('plain SHA-256 of all at once', cost.shaAtOnce),
    row('plain SHA-256 entry by entry', cost.shaEntryByEntry),
    row('plain portable SHA-256 entry by entry', cost.shaPortable),
    ratio('verify against plain SHA-256 of all at once', cost.verify / cost.shaAtOnce, null),
    ratio('verify against plain SHA-256 entry by entry', cost.verify / cost.shaEntryByEntry, 4),
    ratio('the same, both portable', cost.verifyPortable / cost.shaPortable, 4),
  ]
}
