/**
 * Verifies a record from its export alone.
 *
 * Owns: the verdict.
 * Talks to: the run machine, which decides everything again; nobody else. Two primitives come from outside, because the pure core has no
 * platform: the check of a signature and, where speed matters, a faster SHA-256.
 *
 * Invariants
 * V1  `broken` if anything is found; never `proven` without a checkpoint and a public key that did not come with the export.
 * V2  It never throws for anything an export holds: what cannot be read is a finding.
 * V3  A payload that is not there was erased, as a tenant's chain says, or is withheld; then a signature vouches for what is shown instead.
 * V4  Whatever was not checked is listed, and what no check can show is said.
 */
import { isTenantChain } from '../journal/chain.ts'
import type { Checkpoint } from '../journal/chain-checkpoint.ts'
import { digest } from '../shared/digest.ts'
import { checkChain, type Hash } from './check-chain.ts'
import { checkCheckpoints, checkViews, type VerifySignature, type ViewReport } from './check-checkpoints.ts'
import { checkDecisions, type DecisionReport } from './check-decisions.ts'
import { checkTenants } from './check-tenant.ts'
import { Documents } from './documents.ts'
import { haltedCalls } from '../journal/halted-calls.ts'
import { missingPayloads } from '../journal/missing-payload.ts'
import type { ExportManifest } from '../journal/chain-export.ts'
import { readExport, type ReadEntry, type ReadExport } from '../journal/read-export.ts'
import type { ChainReport, Finding, Unchecked, Verdict } from './verdict.ts'

/** What a verifier is given besides the export. */
export interface VerifyOptions {
  readonly verifySignature: VerifySignature
  /** Public keys by their id, in PEM, that were kept elsewhere; null if there are none. */
  readonly publicKeys?: Readonly<Record<string, string>> | null
  /** Checkpoints that were kept elsewhere. */
  readonly checkpoints?: readonly Checkpoint[]
  readonly hash?: Hash
}

/** Checks an export line by line and says what it proves. */
export function verifyExport(lines: Iterable<string>, options: VerifyOptions): Verdict {
  return judgeExport(readExport(lines), options)
}

/** What checking one chain by itself came to; null in the place of decisions for a tenant's chain, and for a broken one. */
export interface ChainCheck {
  readonly findings: readonly Finding[]
  readonly decisions: DecisionReport | null
}

/** Checks the chains of an export, each by itself, so that it does not matter who checks which. */
export function chainChecker(manifest: ExportManifest, hash: Hash) {
  const stated = new Map(manifest.chains.map((each) => [each.chain, each]))
  const documents = new Documents(manifest.documents)
  return (chain: string, entries: readonly ReadEntry[]): ChainCheck => {
    const findings = checkChain(chain, entries, stated.get(chain), hash)
    if (findings.length > 0 || isTenantChain(chain)) return { findings, decisions: null }
    return { findings, decisions: checkDecisions(chain, entries, documents) }
  }
}

/** Says what an export proves. Whoever has checked some of its chains already hands that in; the others are checked here. */
export function judgeExport(
  { manifest, chains, problems }: ReadExport,
  { verifySignature, publicKeys = null, checkpoints = [], hash = digest }: VerifyOptions,
  known: ReadonlyMap<string, ChainCheck> = new Map(),
): Verdict {
  const whole = { chain: null, seq: null }
  const findings = problems.map((message): Finding => ({ kind: 'unreadable', ...whole, message }))
  if (manifest === null) {
    return { verdict: 'broken', findings, chains: [], notRecomputable: [], runs: null, notProven: [] }
  }
  const check = chainChecker(manifest, hash)
  const checks = new Map<string, ChainCheck>()
  for (const [chain, entries] of chains) checks.set(chain, known.get(chain) ?? check(chain, entries))
  for (const each of checks.values()) findings.push(...each.findings)
  for (const { chain, entries } of manifest.chains) {
    if (chains.has(chain) || entries === 0) continue
    const message = `the manifest names ${chain} with ${entries} entries, and none is there`
    findings.push({ kind: 'missing_run', chain, seq: null, message })
  }
  const signed = checkCheckpoints(chains, manifest, checkpoints, publicKeys, verifySignature)
  findings.push(...signed.findings)
  const views = checkViews(chains, manifest, publicKeys, verifySignature, hash)
  findings.push(...views.findings)
  const tenants = checkTenants(chains, manifest)
  findings.push(...tenants.findings)
  for (const gone of missingPayloads({ manifest, chains })) findings.push({ kind: 'edit', ...gone })

  const damaged = new Set(findings.map(({ chain }) => chain))
  const notRecomputable: Unchecked[] = []
  const reports: ChainReport[] = []
  for (const [chain, entries] of chains) {
    const last = entries.at(-1)!
    const report = { chain, entries: entries.length, head: last.hash }
    const vouched = tenants.vouched.get(chain)
    const covered =
      (signed.covered.get(chain) ?? 0) >= entries.length ||
      (vouched !== undefined && (signed.covered.get(vouched.chain) ?? 0) >= vouched.seq)
    const decisions = damaged.has(chain) ? null : checks.get(chain)!.decisions
    const { recomputed = 0, status = null, doubted = null } = decisions ?? {}
    const meansSomething = decisions !== null || isTenantChain(chain)
    reports.push({ ...report, recomputed, covered: covered && meansSomething, status })
    if (!meansSomething)
      notRecomputable.push({ chain, seq: null, why: 'the chain is broken, so its decisions mean nothing' })
    findings.push(...(decisions?.findings ?? []))
    notRecomputable.push(...(decisions?.notRecomputable ?? []))
    if (doubted === null) continue
    const { seq, message } = doubted
    if (views.signedBy === 'nobody' && last.hash !== null) findings.push(doubted)
    else notRecomputable.push({ chain, seq, why: `behind what was withheld: ${message}` })
  }
  for (const call of haltedCalls({ chains })) findings.push({ kind: 'halted_call', ...call })
  const runs = reports.filter(({ chain }) => !isTenantChain(chain))
  const proven =
    runs.length > 0 &&
    runs.every(({ covered }) => covered) &&
    (views.count === 0 || views.signedBy === 'kept')
  return {
    verdict: findings.length > 0 ? 'broken' : proven ? 'proven' : 'consistent',
    findings,
    chains: reports,
    notRecomputable,
    runs: tenants.runs,
    notProven: [...describeViews(views), ...describeLimits(reports, proven, tenants.runs !== null)],
  }
}

function describeViews({ count, signedBy }: ViewReport): string[] {
  if (count === 0) return []
  const shown = `What was withheld: ${count} ${count === 1 ? 'entry is' : 'entries are'} shown without secrets`
  if (signedBy === 'kept')
    return [`${shown}, on the word of the server, which it signed when it exported them.`]
  return [
    `${shown}, by views that anybody could have changed; a public key kept elsewhere, or a whole export, proves them.`,
  ]
}

function describeLimits(reports: readonly ChainReport[], proven: boolean, tenants: boolean): string[] {
  const limits: string[] = []
  if (reports.some(({ head }) => head === null)) {
    limits.push('That no entry was changed: this record was kept without a chain.')
  } else if (proven) {
    limits.push('Anything after the newest checkpoint, and all of it if the signing key was misused.')
  } else {
    limits.push(
      'That the server wrote this record: whoever holds its keys, or rewrites the whole export with keys of their own, is found out only by a checkpoint and a public key that were kept elsewhere.',
      'That nothing was cut off the end after the last checkpoint.',
    )
  }
  if (!tenants)
    limits.push('That no other run is missing: the export does not hold the whole chain of the tenant.')
  limits.push(
    'The authentication codes: checking them takes the secret key of the server.',
    'That the times are right, that tools did what they reported, and that nobody reached them another way.',
  )
  return limits
}
