import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  randomBytes,
  randomFillSync,
  type KeyObject,
} from 'node:crypto'

const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/** A new key for the payloads of one run: as it is used, and as it is put away. A key object is several times faster than its bytes. */
export function createDataKey(): { readonly key: KeyObject; readonly bytes: Buffer } {
  const bytes = takeRandom(32)
  return { key: createSecretKey(bytes), bytes }
}

const pool = Buffer.alloc(8192)
let used = pool.length

/** Random bytes, drawn from the system many at a time. */
export function takeRandom(length: number): Buffer {
  if (length > pool.length) return randomBytes(length)
  draw(length)
  const taken = Buffer.allocUnsafe(length)
  pool.copy(taken, 0, used, used + length)
  giveOut(length)
  return taken
}

/** Random bytes as hexadecimal digits, two for each. */
export function takeRandomHex(length: number): string {
  if (length > pool.length) return randomBytes(length).toString('hex')
  draw(length)
  const taken = pool.toString('hex', used, used + length)
  giveOut(length)
  return taken
}

function draw(length: number): void {
  if (used + length <= pool.length) return
  randomFillSync(pool)
  used = 0
}

/** What was given out is not kept. */
function giveOut(length: number): void {
  pool.fill(0, used, used + length)
  used += length
}

/** Encrypts under a nonce of its own: nonce, tag, ciphertext. `place` binds it to where it lies, so that it counts nowhere else. */
export function encrypt(key: KeyObject, plain: string | Buffer, place: string): Buffer {
  const nonce = takeRandom(nonceLength)
  const cipher = createCipheriv(algorithm, key, nonce)
  cipher.setAAD(Buffer.from(place))
  const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain)
  cipher.final()
  const sealed = Buffer.allocUnsafe(nonceLength + tagLength + body.length)
  sealed.set(nonce, 0)
  sealed.set(cipher.getAuthTag(), nonceLength)
  sealed.set(body, nonceLength + tagLength)
  return sealed
}

/** What was encrypted at that place under that key; throws for anything else. */
export function decrypt(key: KeyObject, sealed: Uint8Array, place: string): Buffer {
  const body = Buffer.from(sealed)
  const decipher = createDecipheriv(algorithm, key, body.subarray(0, nonceLength), {
    authTagLength: tagLength,
  })
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(body.subarray(nonceLength, nonceLength + tagLength))
  return Buffer.concat([decipher.update(body.subarray(nonceLength + tagLength)), decipher.final()])
}
