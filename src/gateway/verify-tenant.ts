import { setImmediate as breathe } from 'node:timers/promises'
import type { z } from 'zod'
import type { auditRoutes } from '../api/record-routes.ts'
import { tenantChain } from '../journal/chain.ts'
import type { ChainStore } from '../journal/chain-store.ts'
import { exportChains } from '../journal/export-chains.ts'
import { sendTime } from '../overview/send-entry.ts'
import { readExport } from '../journal/read-export.ts'
import { readTenantLog } from '../journal/tenant-log.ts'
import { chainChecker } from '../proof/verify-export.ts'
import { nativeHash } from '../report/native-hash.ts'
import { judgeRun, showFinding, type SentProblem } from './verify-run.ts'

type Verified = z.input<(typeof auditRoutes)['verifyAudit']['response']>

/** How many problems are told. */
const mostTold = 200

/**
 * Checks the chain of a tenant, that every run it opened is there as it was closed, and, of the newest runs, every decision. Others get their turn between two
 * runs.
 */
export async function verifyTenant(
  store: ChainStore,
  tenant: string,
  most: number,
  at: number,
): Promise<Verified> {
  const chain = tenantChain(tenant)
  const problems: SentProblem[] = []
  // Exported as all of it, so that nothing of the tenant's own chain is withheld.
  const { manifest, chains } = readExport(await exportChains(store, [], { tenants: [tenant] }))
  const entries = chains.get(chain) ?? []
  if (manifest !== null && entries.length > 0)
    problems.push(...chainChecker(manifest, nativeHash)(chain, entries).findings.map(showFinding))
  const log = readTenantLog(entries, () => true)
  problems.push(...log.problems.map(({ seq, message }) => ({ chain, seq, message })))
  const missing: string[] = []
  let closed = 0
  for (const known of log.runs.values()) {
    if (known.closed !== null) closed++
    if (!(await store.has(known.run))) missing.push(known.run)
  }
  let checked = 0
  let broken = problems.length + missing.length > 0
  for (const known of [...log.runs.values()].toReversed().slice(0, most)) {
    if (missing.includes(known.run)) continue
    const { verdict, findings, chains: reports } = await judgeRun(store, known.run)
    checked++
    if (verdict === 'broken') broken = true
    if (problems.length < mostTold) problems.push(...findings.map(showFinding))
    const report = reports.find((each) => each.chain === known.run)
    if (known.closed !== null && report !== undefined && report.entries < known.closed.entries) {
      broken = true
      const { entries: there } = report
      const message = `it was closed with ${known.closed.entries} entries, and ${there} are there (truncation)`
      problems.push({ chain: known.run, seq: there, message })
    }
    await breathe()
  }
  return {
    at: sendTime(at),
    verdict: broken ? 'broken' : 'consistent',
    entries: entries.length,
    checked,
    runsOpened: log.runs.size,
    runsClosed: closed,
    missing,
    problems: problems.slice(0, mostTold),
  }
}
