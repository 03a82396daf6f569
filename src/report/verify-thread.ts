/** What a thread runs that checks chains of an export for `verify-bytes.ts`, which starts it. */
import { parentPort, workerData } from 'node:worker_threads'
import { readEntries, readExport } from '../journal/read-export.ts'
import { chainChecker } from '../proof/verify-export.ts'
import { nativeHash } from './native-hash.ts'
import { splitLines } from './split-lines.ts'
import { claimChunk, type CheckedChain, type VerifyJob } from './verify-job.ts'

const { bytes: shared, number } = workerData as { bytes: SharedArrayBuffer; number: number }
const bytes = Buffer.from(shared)

parentPort!.once('message', ({ manifest: [from, to], chunks, owners }: VerifyJob) => {
  const { manifest } = readExport(splitLines(bytes.subarray(from, to)))
  const check = chainChecker(manifest!, nativeHash)
  const checked: CheckedChain[] = []
  for (let mine = claimChunk(owners, number); mine !== null; mine = claimChunk(owners, number)) {
    const { chains } = readEntries(splitLines(bytes.subarray(chunks[mine]!.from, chunks[mine]!.to)))
    for (const [chain, entries] of chains)
      checked.push({ chain, entries: entries.length, check: check(chain, entries) })
  }
  parentPort!.postMessage(checked, [])
})
