import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A secret that was just made: what is shown once, and what is kept of it. */
export interface NewSecret {
  readonly token: string
  readonly hash: string
}

/** Makes a token of 32 random bytes after the given head. */
export function makeSecret(head: string): NewSecret {
  const token = `${head}${randomBytes(32).toString('base64url')}`
  return { token, hash: hashToken(token) }
}

/** What is kept of a token. It is as random as the hash is long, so that one round is enough. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Says in constant time whether the token is the one that was hashed. */
export function isToken(token: string, hashed: unknown): boolean {
  const [given, kept] = [Buffer.from(hashToken(token)), Buffer.from(String(hashed))]
  return given.length === kept.length && timingSafeEqual(given, kept)
}
