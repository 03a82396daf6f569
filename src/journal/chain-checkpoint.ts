import { canonicalJson } from '../shared/canonical-json.ts'

/** Where a chain stood. */
export interface ChainHead {
  readonly chain: string
  readonly seq: number
  readonly hash: string
}

/** An Ed25519 signature in hexadecimal, and the id of its key. */
export interface Signature {
  readonly key: string
  readonly signature: string
}

/** A statement, signed with the server's key, that chains stood where it says. */
export interface Checkpoint extends Signature {
  readonly v: 1
  readonly tenant: string
  readonly at: number
  readonly heads: readonly ChainHead[]
}

/** The text that is signed. Its first line keeps the signature from meaning anything else. */
export function checkpointText({ v, tenant, at, heads }: Omit<Checkpoint, 'key' | 'signature'>): string {
  const plain = heads.map(({ chain, seq, hash }) => ({ chain, seq, hash }))
  return `lockstep checkpoint\n${canonicalJson({ v, tenant, at, heads: plain })}`
}
