/**
 * Verifies an export with more than one core.
 *
 * Owns: who checks which chain.
 * Talks to: threads that run `verify-thread.ts`, over memory that all of them read and nobody changes.
 *
 * Invariants
 * B1  The verdict is that of one thread: each chain is checked by itself, wherever that is, and all that is between chains is judged here.
 * B2  What a thread says of a chain counts only if it saw every line of it; otherwise the chain is checked here.
 * B3  A thread that fails, or comes too late, costs time and never a verdict.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { isBlank, readExport, type ReadExport } from '../journal/read-export.ts'
import type { Verdict } from '../proof/verdict.ts'
import { chainChecker, judgeExport, type ChainCheck, type VerifyOptions } from '../proof/verify-export.ts'
import { nativeHash } from './native-hash.ts'
import { lineRanges, splitLines } from './split-lines.ts'
import { claimChunk, type ChainChunk, type CheckedChain, type VerifyJob } from './verify-job.ts'

/** How the work is shared out. */
export interface Crew {
  /** How many threads there are beside this one. */
  readonly threads: number
  /** What one takes at once, in bytes. */
  readonly chunkBytes: number
  /** Whether this thread takes its share of the chains while the others do. */
  readonly joinsIn: boolean
  /** What the threads run. */
  readonly program: URL
}

const mebi = 1024 ** 2
/** A thread loads the verifier and runs it cold for its first second, so that it is worth it only for much more than that second does. */
const worthAThread = 96 * mebi
/** The number of this thread among those that claim chunks. */
const own = 1
const program = new URL(import.meta.url.replace(/verify-bytes(\.[jt]s)$/, 'verify-thread$1'))

/** Checks the export in the bytes and says what it proves, as `verifyExport` does with its lines. */
export async function verifyBytes(
  bytes: Buffer,
  options: Omit<VerifyOptions, 'hash'>,
  crew: Crew = crewFor(bytes.length),
): Promise<Verdict> {
  const given = { ...options, hash: nativeHash }
  if (crew.threads === 0) return judgeExport(readExport(splitLines(bytes)), given)
  const shared = share(bytes)
  const threads = Array.from(
    { length: crew.threads },
    (_, index) => new Thread(own + 1 + index, shared, crew.program),
  )
  try {
    // The threads start while the lines are read.
    const starts: number[] = []
    const read = readExport(noteStarts(shared, starts))
    const known = await checkTogether(read, [...starts, bytes.length], threads, crew)
    return judgeExport(read, given, known)
  } finally {
    for (const thread of threads) thread.dismiss()
  }
}

/** How many cores are worth it for so many bytes. */
export function crewFor(bytes: number): Crew {
  const threads = Math.min(availableParallelism() - 1, Math.floor(bytes / worthAThread), 7)
  return { threads, chunkBytes: mebi / 4, joinsIn: true, program }
}

function share(bytes: Buffer): Buffer<SharedArrayBuffer> {
  const shared = Buffer.from(new SharedArrayBuffer(bytes.length))
  shared.set(bytes)
  return shared
}

/** The lines, of which those that hold something are noted by where they start. */
function* noteStarts(bytes: Buffer, starts: number[]): Generator<string> {
  for (const [from, to] of lineRanges(bytes)) {
    const line = bytes.toString('utf8', from, to)
    if (!isBlank(line)) starts.push(from)
    yield line
  }
}

async function checkTogether(
  { manifest, chains, problems }: ReadExport,
  starts: readonly number[],
  threads: readonly Thread[],
  { chunkBytes, joinsIn }: Crew,
): Promise<ReadonlyMap<string, ChainCheck>> {
  const known = new Map<string, ChainCheck>()
  // Where a line cannot be read, the lines of a chain cannot be counted off.
  if (manifest === null || problems.length > 0) return known
  const chunks = chunksOf(chains, starts, chunkBytes)
  const owners = new Int32Array(new SharedArrayBuffer(chunks.length * Int32Array.BYTES_PER_ELEMENT))
  const job: VerifyJob = { manifest: [starts[0]!, starts[1]!], chunks, owners }
  for (const thread of threads) thread.begin(job)
  if (joinsIn) {
    const check = chainChecker(manifest, nativeHash)
    for (let chunk = claimChunk(owners, own); chunk !== null; chunk = claimChunk(owners, own))
      for (const chain of chunks[chunk]!.chains) known.set(chain, check(chain, chains.get(chain)!))
  }
  for (const thread of threads) {
    if (joinsIn && !owners.includes(thread.number)) continue
    for (const { chain, entries, check } of await thread.result)
      if (chains.get(chain)?.length === entries) known.set(chain, check)
  }
  return known
}

/** Chains that stand side by side, as many as make a chunk, and from where to where their lines go if they stand as Lockstep writes them. */
function chunksOf(
  chains: ReadExport['chains'],
  starts: readonly number[],
  least: number,
): readonly ChainChunk[] {
  const chunks: { from: number; to: number; chains: string[] }[] = []
  let line = 1
  for (const [chain, entries] of chains) {
    const from = starts[line]!
    line += entries.length
    const to = starts[line]!
    const last = chunks.at(-1)
    if (last !== undefined && last.to - last.from < least) {
      last.to = to
      last.chains.push(chain)
    } else chunks.push({ from, to, chains: [chain] })
  }
  return chunks
}

class Thread {
  readonly number: number
  /** What it found out; nothing if it failed. */
  readonly result: Promise<readonly CheckedChain[]>
  readonly #worker: Worker

  constructor(number: number, bytes: Buffer<SharedArrayBuffer>, url: URL) {
    this.number = number
    const worker = new Worker(url, { workerData: { bytes: bytes.buffer, number }, execArgv: [] })
    this.#worker = worker
    this.result = new Promise((resolve) => {
      worker.once('message', resolve)
      worker.once('error', () => resolve([]))
      worker.once('exit', () => resolve([]))
    })
    worker.unref()
  }

  begin(job: VerifyJob): void {
    this.#worker.ref()
    this.#worker.postMessage(job, [])
  }

  dismiss(): void {
    void this.#worker.terminate()
  }
}
