import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/** A new key for the payloads of one run. */
export function createDataKey(): Buffer {
  return randomBytes(32)
}

/** Encrypts under a nonce of its own: nonce, tag, ciphertext. `place` binds it to where it lies, so that it counts nowhere else. */
export function encrypt(key: Buffer, plain: string | Buffer, place: string): Buffer {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, key, nonce)
  cipher.setAAD(Buffer.from(place))
  const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain)
  cipher.final()
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** What was encrypted at that place under that key; throws for anything else. */
export function decrypt(key: Buffer, sealed: Uint8Array, place: string): Buffer {
  const body = Buffer.from(sealed)
  const decipher = createDecipheriv(algorithm, key, body.subarray(0, nonceLength), {
    authTagLength: tagLength,
  })
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(body.subarray(nonceLength, nonceLength + tagLength))
  return Buffer.concat([decipher.update(body.subarray(nonceLength + tagLength)), decipher.final()])
}
