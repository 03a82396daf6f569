import {
  checkpointText,
  type ChainHead,
  type Checkpoint,
  type Signature,
} from '../journal/chain-checkpoint.ts'
import type { ExportManifest } from '../journal/chain-export.ts'
import { shownViews, viewsText } from '../journal/export-views.ts'
import { redacted } from '../shared/redact.ts'
import { messageOf } from '../shared/message-of.ts'
import type { ReadEntry } from '../journal/read-export.ts'
import type { Hash } from './check-chain.ts'
import type { Finding } from './verdict.ts'

/** Says whether the Ed25519 signature, in hexadecimal, is that of the text under the public key, in PEM. */
export type VerifySignature = (publicKey: string, text: string, signature: string) => boolean

/** What checkpoints say about the chains of an export. */
export interface CheckpointReport {
  readonly findings: readonly Finding[]
  /** For each chain the highest entry that a checkpoint kept elsewhere vouches for. */
  readonly covered: ReadonlyMap<string, number>
}

/** Checks signatures, and that every chain is where its checkpoints, those of the export and those kept elsewhere, say it was. */
export function checkCheckpoints(
  chains: ReadonlyMap<string, readonly ReadEntry[]>,
  { checkpoints: inside, publicKeys: insideKeys }: ExportManifest,
  outside: readonly Checkpoint[],
  outsideKeys: Readonly<Record<string, string>> | null,
  verifySignature: VerifySignature,
): CheckpointReport {
  const findings: Finding[] = []
  const covered = new Map<string, number>()
  let trusted = 0
  for (const checkpoint of [...outside, ...inside]) {
    const keptElsewhere = outside.includes(checkpoint)
    const own = outsideKeys?.[checkpoint.key]
    // A key inside the export vouches for nothing by itself: whoever made the export may have put it there.
    const publicKey = own ?? insideKeys[checkpoint.key]
    const problem = signatureProblem('a checkpoint', checkpoint, publicKey, checkpointText, verifySignature)
    if (problem !== null) {
      findings.push({ kind: 'forged_signature', chain: firstChain(checkpoint), seq: null, message: problem })
      continue
    }
    if (own !== undefined) trusted++
    for (const head of checkpoint.heads) {
      const { chain, seq } = head
      const entries = chains.get(chain)
      if (entries === undefined) continue
      const found = headFinding(entries, head)
      if (found !== null) findings.push(found)
      else if (keptElsewhere && own !== undefined) covered.set(chain, Math.max(seq, covered.get(chain) ?? 0))
    }
  }
  if (outsideKeys !== null && trusted === 0 && inside.length + outside.length > 0) {
    const message = `no checkpoint is signed with the public key that was given (${Object.keys(outsideKeys).join(', ')})`
    findings.push({ kind: 'forged_signature', chain: null, seq: null, message })
  }
  return { findings, covered }
}

function signatureProblem<Signed extends Signature>(
  what: string,
  signed: Signed,
  publicKey: string | undefined,
  text: (signed: Signed) => string,
  verifySignature: VerifySignature,
): string | null {
  if (publicKey === undefined) return `there is no public key ${String(signed.key)} for ${what}`
  try {
    const valid = verifySignature(publicKey, text(signed), signed.signature)
    return valid ? null : `${what} is not what was signed with key ${signed.key}`
  } catch (error) {
    return `${what} cannot be checked: ${messageOf(error)}`
  }
}

/** What vouches for what is shown in the place of withheld payloads: a key that was kept elsewhere, one that came along, or none. */
export interface ViewReport {
  readonly findings: readonly Finding[]
  readonly count: number
  readonly signedBy: 'kept' | 'inside' | 'nobody'
}

/** Checks that what is shown in the place of withheld payloads is what was signed, and that something was taken out of it. */
export function checkViews(
  chains: ReadonlyMap<string, readonly ReadEntry[]>,
  { views, publicKeys }: ExportManifest,
  keptKeys: Readonly<Record<string, string>> | null,
  verifySignature: VerifySignature,
  hash: Hash,
): ViewReport {
  const shown = shownViews(chains)
  const message = 'its payload is withheld, and nothing was taken out of what is shown in its place'
  const findings = shown
    .filter(({ view }) => !JSON.stringify(view).includes(redacted))
    .map(({ chain, seq }): Finding => ({ kind: 'edit', chain, seq, message }))
  const report = { findings, count: shown.length, signedBy: 'nobody' } as const
  if (shown.length === 0 || views === undefined) return report
  const kept = keptKeys?.[views.key]
  const text = () => viewsText(shown, hash)
  const what = 'what is shown in the place of withheld payloads'
  const problem = signatureProblem(what, views, kept ?? publicKeys[views.key], text, verifySignature)
  if (problem === null) return { ...report, signedBy: kept === undefined ? 'inside' : 'kept' }
  findings.push({ kind: 'forged_signature', chain: null, seq: null, message: problem })
  return report
}

function headFinding(entries: readonly ReadEntry[], { chain, seq, hash }: ChainHead): Finding | null {
  const entry = entries[seq - 1]
  if (entry === undefined) {
    const message = `a signed checkpoint knows ${seq} entries, and the export ends after ${entries.length}`
    return { kind: 'truncation', chain, seq: entries.length + 1, message }
  }
  if (entry.hash === hash) return null
  const message = `a signed checkpoint knows another entry ${seq}: the chain was rewritten up to there`
  return { kind: 'edit', chain, seq, message }
}

function firstChain({ heads }: Checkpoint): string | null {
  return heads?.at?.(-1)?.chain ?? null
}
