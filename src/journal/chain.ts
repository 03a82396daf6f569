/**
 * The chain of a run: what makes its record provable.
 *
 * Owns: the format of a link, and what is hashed, authenticated and signed. Pure: the verifier runs the same code.
 *
 * Invariants
 * C1  A link holds everything about an entry but its payload, and of that a salted digest; its hash is the SHA-256 of its canonical JSON.
 * C2  Each link holds the hash of the one before it; the first one holds null.
 * C3  The salt keeps a payload from being guessed from its digest. Where payload and salt are gone, the chain is as valid as before.
 * C4  The chain of a tenant is a chain like any other, under a name that no run can have.
 */
import type { JsonObject } from '../shared/json.ts'

/** The version of the link format; a verifier refuses one it does not know. */
export const chainVersion = 1

/** What is hashed of an entry (C1). */
export interface ChainLink {
  readonly v: typeof chainVersion
  readonly run: string
  readonly seq: number
  readonly at: number
  readonly tenant: string
  readonly principal: string
  readonly type: string
  /** The salted digest of the payload. */
  readonly payload: string
  /** The hash of the link before. */
  readonly prev: string | null
}

/** An entry with all that proves it. */
export interface SealedEntry {
  readonly link: ChainLink
  readonly hash: string
  /** The HMAC-SHA-256 of the hash under the server's key, in hexadecimal, and which key that is. */
  readonly mac: string
  readonly key: string
  /** Null where the payload was erased or is withheld. */
  readonly payload: { readonly salt: string; readonly data: JsonObject } | null
}

/** The canonical JSON of a link (RFC 8785), member by member: this is written and checked for every entry. */
export function writeLink(link: ChainLink): string {
  const { at, payload, prev, principal, run, seq, tenant, type, v } = link
  return `{"at":${at},"payload":"${payload}","prev":${prev === null ? 'null' : `"${prev}"`},"principal":${JSON.stringify(principal)},"run":"${run}","seq":${seq},"tenant":${JSON.stringify(tenant)},"type":${JSON.stringify(type)},"v":${v}}`
}

/** What the digest of a payload is made of: the salt, 32 hexadecimal digits, and the payload's canonical JSON. */
export function saltedPayload(salt: string, canonicalData: string): string {
  return salt + canonicalData
}

const tenantPrefix = 'tenant:'

/** The name of the chain in which a tenant's runs are opened and closed (C4). */
export function tenantChain(tenant: string): string {
  return `${tenantPrefix}${encodeURIComponent(tenant)}`
}

/** Says whether the chain is a tenant's. */
export function isTenantChain(name: string): boolean {
  return name.startsWith(tenantPrefix)
}
