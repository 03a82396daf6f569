import { isTenantChain } from '../journal/chain.ts'
import { closingTypes } from '../journal/journal.ts'
import type { ExportPeriod } from '../journal/chain-export.ts'
import type { ReadEntry } from '../journal/read-export.ts'
import { readTenantLog, type KnownRun } from '../journal/tenant-log.ts'
import type { Finding, Verdict } from './verdict.ts'

/** What the tenants' chains say about the runs of an export. */
export interface TenantReport {
  readonly findings: readonly Finding[]
  readonly runs: Verdict['runs']
  /** For each closed run, which entry of which tenant chain names its last one. */
  readonly vouched: ReadonlyMap<string, { readonly chain: string; readonly seq: number }>
}

/**
 * Checks that every run a tenant opened, in the time that the export is about, is there, numbered without gaps, and as long as it was when
 * it was closed.
 */
export function checkTenants(
  chains: ReadonlyMap<string, readonly ReadEntry[]>,
  { complete, period = null }: { readonly complete: boolean; readonly period?: ExportPeriod | null },
): TenantReport {
  const findings: Finding[] = []
  const vouched = new Map<string, { chain: string; seq: number }>()
  const missing: string[] = []
  let opened = 0
  let closed = 0
  let seen = false
  // Beside a run that was erased, the chain of its tenant says so, and nothing of others.
  const whole = complete || period !== null
  for (const [chain, entries] of chains) {
    if (!isTenantChain(chain)) continue
    seen = true
    const { runs: known, problems } = readTenantLog(entries, (at) => whole && isWithin(at, period))
    for (const problem of problems) findings.push({ kind: 'missing_run', chain, ...problem })
    for (const run of known.values()) {
      if (!isWithin(run.at, period)) {
        const message = `run ${run.run} was not opened in the time that the manifest states`
        if (chains.has(run.run)) findings.push({ kind: 'edit', chain: run.run, seq: null, message })
        continue
      }
      opened++
      if (run.closed !== null) closed++
      const own = chains.get(run.run)
      if (own === undefined) {
        missing.push(run.run)
        if (whole) {
          const message = `run ${run.run}, number ${run.number} of the tenant, was opened and is not in the export`
          findings.push({ kind: 'missing_run', chain: run.run, seq: null, message })
        }
        continue
      }
      if (run.closed !== null) checkClosed(run, run.closed, own, chain, findings, vouched)
    }
    for (const name of chains.keys()) {
      const tenant = chains.get(name)![0]?.link.tenant
      if (isTenantChain(name) || known.has(name) || tenant !== entries[0]?.link.tenant) continue
      const message = `run ${name} is in the export, and its tenant never opened it`
      findings.push({ kind: 'missing_run', chain: name, seq: null, message })
    }
  }
  if (whole && !seen) {
    const message = 'the export says that no run is missing, and the chain of the tenant is not in it'
    findings.push({ kind: 'missing_run', chain: null, seq: null, message })
  }
  return { findings, runs: seen && whole ? { opened, closed, missing, period } : null, vouched }
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
  } else if (entries.findLast(({ link }) => closingTypes.has(link.type)) === undefined) {
    const message = 'the run was closed, and nothing in it says how it ended'
    findings.push({ kind: 'truncation', chain: run.run, seq: closed.entries, message })
  } else if (closed.entries === entries.length) {
    vouched.set(run.run, { chain, seq: closed.by })
  }
}

function isWithin(at: number, period: ExportPeriod | null): boolean {
  return period === null || (at >= period.from && at < period.to)
}
