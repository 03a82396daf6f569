import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { z } from 'zod'
import type { runRoutes } from '../api/run-routes.ts'
import { exportChains, type ExportSource } from '../journal/export-chains.ts'
import type { Finding, Verdict } from '../proof/verdict.ts'
import { verifyExport } from '../proof/verify-export.ts'
import { nativeHash } from '../report/native-hash.ts'
import { redactText } from '../shared/redact.ts'

/** A problem as it is sent. */
export type SentProblem = { chain: string; seq: number | null; message: string }

const keys = new Map<string, KeyObject>()

/** Checks a signature; reading a key takes longer than checking with it. */
export function checkSignature(pem: string, text: string, signature: string): boolean {
  const key = keys.get(pem) ?? createPublicKey(pem)
  if (keys.size > 100) keys.clear()
  keys.set(pem, key)
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))
}

/** What the record of one run proves. */
export async function judgeRun(store: ExportSource, run: string): Promise<Verdict> {
  const lines = await exportChains(store, [run])
  return verifyExport(lines, { verifySignature: checkSignature, hash: nativeHash })
}

/** What the record of one run proves, as it is sent. */
export async function verifyRun(
  store: ExportSource,
  run: string,
): Promise<z.input<(typeof runRoutes)['verifyRun']['response']>> {
  const { verdict, findings, chains, notRecomputable, notProven } = await judgeRun(store, run)
  return {
    verdict,
    problems: findings.map(showFinding),
    decisions: chains.reduce((sum, { recomputed }) => sum + recomputed, 0),
    notRecomputable: notRecomputable.map(({ seq, why }) => (seq === null ? why : `entry ${seq}: ${why}`)),
    notProven: [...notProven],
  }
}

/** A finding as it is sent. */
export function showFinding({ kind, chain, seq, message }: Finding): SentProblem {
  return { chain: chain ?? '', seq, message: redactText(`${message} (${kind.replaceAll('_', ' ')})`) }
}
