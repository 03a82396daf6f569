import type { ChainCheck } from '../proof/verify-export.ts'

/** What threads that verify an export together have to know. */
export interface VerifyJob {
  /** From where to where the manifest goes, in bytes. */
  readonly manifest: readonly [from: number, to: number]
  readonly chunks: readonly ChainChunk[]
  /** Who took which chunk; 0 while nobody has. In shared memory. */
  readonly owners: Int32Array<SharedArrayBuffer>
}

/** Chains whose lines stand side by side, and from where to where they go. */
export interface ChainChunk {
  readonly from: number
  readonly to: number
  readonly chains: readonly string[]
}

/** What a thread found out about a chain of which it saw so many lines. */
export interface CheckedChain {
  readonly chain: string
  readonly entries: number
  readonly check: ChainCheck
}

/** Takes the next chunk for the one with the number, from 1 on; null if all are taken. Nobody else gets it. */
export function claimChunk(owners: Int32Array<SharedArrayBuffer>, number: number): number | null {
  for (let chunk = 0; chunk < owners.length; chunk++)
    if (Atomics.load(owners, chunk) === 0 && Atomics.compareExchange(owners, chunk, 0, number) === 0)
      return chunk
  return null
}
