import { isTenantChain } from '../journal/chain.ts'
import type { ReadEntry } from './read-export.ts'
import type { Finding, Verdict } from './verdict.ts'

/** What the chain of a tenant says about a run. */
interface KnownRun {
  readonly run: string
  readonly number: number
  closed: { readonly entries: number; readonly head: string; readonly by: number } | null
  erased: boolean
}

/** What the tenants' chains say about the runs of an export. */
export interface TenantReport {
  readonly findings: readonly Finding[]
  readonly runs: Verdict['runs']
  /** For each closed run, which entry of which tenant chain names its last one. */
  readonly vouched: ReadonlyMap<string, { readonly chain: string; readonly seq: number }>
}

/** Checks that every run a tenant opened is there, numbered without gaps, and as long as it was when it was closed. */
export function checkTenants(
  chains: ReadonlyMap<string, readonly ReadEntry[]>,
  complete: boolean,
): TenantReport {
  const findings: Finding[] = []
  const vouched = new Map<string, { chain: string; seq: number }>()
  const missing: string[] = []
  let opened = 0
  let closed = 0
  let seen = false
  for (const [chain, entries] of chains) {
    if (!isTenantChain(chain)) continue
    seen = true
    const known = readRuns(chain, entries, findings)
    for (const run of known.values()) {
      opened++
      if (run.closed !== null) closed++
      const own = chains.get(run.run)
      if (own === undefined) {
        missing.push(run.run)
        if (complete) {
          const message = `run ${run.run}, number ${run.number} of the tenant, was opened and is not in the export`
          findings.push({ kind: 'missing_run', chain: run.run, seq: null, message })
        }
        continue
      }
      if (run.closed !== null) checkClosed(run, run.closed, own, chain, findings, vouched)
    }
    for (const name of chains.keys()) {
      if (isTenantChain(name) || known.has(name) || !isOfTenant(chains.get(name)!, entries)) continue
      const message = `run ${name} is in the export, and its tenant never opened it`
      findings.push({ kind: 'missing_run', chain: name, seq: null, message })
    }
  }
  if (complete && !seen) {
    const message = 'the export says that it is complete, and the chain of the tenant is not in it'
    findings.push({ kind: 'missing_run', chain: null, seq: null, message })
  }
  return { findings, runs: seen ? { opened, closed, missing } : null, vouched }
}

function readRuns(chain: string, entries: readonly ReadEntry[], findings: Finding[]): Map<string, KnownRun> {
  const known = new Map<string, KnownRun>()
  for (const { link, data } of entries) {
    const fact = safe(data)
    const run = fact?.['run']
    if (fact === null || typeof run !== 'string') continue
    if (link.type === 'run.opened') {
      const number = Number(fact['number'])
      if (number !== known.size + 1) {
        const message = `run ${run} has number ${number}, and ${known.size + 1} comes next`
        findings.push({ kind: 'missing_run', chain, seq: link.seq, message })
      }
      known.set(run, { run, number, closed: null, erased: false })
    }
    const about = known.get(run)
    if (about === undefined) continue
    if (link.type === 'run.closed')
      about.closed = { entries: Number(fact['entries']), head: String(fact['head']), by: link.seq }
    if (link.type === 'run.erased') about.erased = true
  }
  return known
}

function checkClosed(
  run: KnownRun,
  closed: NonNullable<KnownRun['closed']>,
  entries: readonly ReadEntry[],
  chain: string,
  findings: Finding[],
  vouched: Map<string, { chain: string; seq: number }>,
): void {
  const last = entries[closed.entries - 1]
  if (last === undefined) {
    const message = `the run was closed with ${closed.entries} entries, and the export ends after ${entries.length}`
    findings.push({ kind: 'truncation', chain: run.run, seq: entries.length + 1, message })
  } else if (last.hash !== closed.head) {
    const message = `the run was closed with another entry ${closed.entries}`
    findings.push({ kind: 'edit', chain: run.run, seq: closed.entries, message })
  } else if (closed.entries === entries.length) {
    vouched.set(run.run, { chain, seq: closed.by })
  }
}

function isOfTenant(run: readonly ReadEntry[], tenant: readonly ReadEntry[]): boolean {
  return run[0]?.link.tenant === tenant[0]?.link.tenant
}

function safe(data: ReadEntry['data']): ReturnType<ReadEntry['data']> {
  try {
    return data()
  } catch {
    return null
  }
}
