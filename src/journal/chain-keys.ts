/**
 * The server's keys.
 *
 * Owns: the folder of keys.
 *
 * Invariants
 * K1  A key is made on first use, and no file with a secret in it is readable by others.
 * K2  A generation is never changed: rotating adds the next one, and the old ones go on checking and reading what they wrote.
 * K3  Of several processes that make the first generation at once, all use the same one.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hash,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto'
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LockstepError } from '../shared/lockstep-error.ts'

/** One generation of keys; `id` is the fingerprint of the public one. */
export interface KeyGeneration {
  readonly id: string
  /** PEM. */
  readonly publicKey: string
  /** Encrypts the keys of runs. */
  readonly wrap: KeyObject
  /** The HMAC-SHA-256 of a link's hash. */
  mac(text: string): string
  /** The Ed25519 signature in hexadecimal. */
  sign(text: string): string
}

/** All generations there are; the newest one writes. */
export interface KeyRing {
  readonly current: KeyGeneration
  readonly all: ReadonlyMap<string, KeyGeneration>
}

interface StoredGeneration {
  readonly mac: string
  readonly wrap: string
  readonly sign: string
}

/** `sha256:` and 64 hexadecimal digits. */
const linkHashLength = 71

const generationFile = /^(\d{4})\.json$/

/** Opens the keys of a folder, and makes the first ones if there are none. Throws `journal_unreadable` for a file that holds none. */
export function openKeyRing(folder: string): KeyRing {
  const found = readGenerations(folder)
  if (found.length > 0) return ring(found)
  addGeneration(folder, 1)
  return ring(readGenerations(folder))
}

/** Adds the next generation, which writes from now on. Processes that have opened the keys already go on with what they know. */
export function rotateKeys(folder: string): KeyRing {
  const known = readGenerations(folder)
  addGeneration(folder, known.length + 1)
  return ring(readGenerations(folder))
}

/** The id of a public key: the first 16 hexadecimal digits of the SHA-256 of its SPKI form. */
export function keyId(publicKey: KeyObject | string): string {
  const key = typeof publicKey === 'string' ? createPublicKey(publicKey) : publicKey
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16)
}

function ring(generations: readonly KeyGeneration[]): KeyRing {
  const current = generations.at(-1)!
  return { current, all: new Map(generations.map((each) => [each.id, each])) }
}

function readGenerations(folder: string): KeyGeneration[] {
  return listFolder(folder)
    .filter((name) => generationFile.test(name))
    .sort()
    .map((name) => readGeneration(join(folder, name)))
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw unusable(folder, error)
  }
}

function readGeneration(path: string): KeyGeneration {
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as StoredGeneration
    const macKey = bytes(stored.mac)
    const wrap = createSecretKey(bytes(stored.wrap))
    const privateKey = createPrivateKey(stored.sign)
    const publicKey = createPublicKey(privateKey)
    return {
      id: keyId(publicKey),
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      wrap,
      mac: createMac(macKey),
      sign: (text) => sign(null, Buffer.from(text), privateKey).toString('hex'),
    }
  } catch (cause) {
    throw unusable(path, cause)
  }
}

/** HMAC-SHA-256 (RFC 2104), with the two halves of the key made ready once: a HMAC object costs more than the hashing. */
function createMac(key: Buffer): (text: string) => string {
  const pad = (value: number) => Buffer.alloc(64, value).map((byte, index) => byte ^ (key[index] ?? 0))
  const [inner, outer] = [
    Buffer.concat([pad(0x36), Buffer.alloc(256)]),
    Buffer.concat([pad(0x5c), Buffer.alloc(32)]),
  ]
  const link = inner.subarray(0, 64 + linkHashLength)
  return (text) => {
    // The hash of a link has its place; anything else is put together anew.
    const fits = text.length === linkHashLength && inner.write(text, 64) === linkHashLength
    const message = fits ? link : Buffer.concat([inner.subarray(0, 64), Buffer.from(text)])
    // As text: a buffer of its own would cost more than the hashing.
    outer.write(hash('sha256', message, 'binary'), 64, 'latin1')
    return hash('sha256', outer, 'hex')
  }
}

function bytes(hex: string): Buffer {
  const read = Buffer.from(hex, 'hex')
  if (read.length !== 32) throw new Error('a key has the wrong length')
  return read
}

/** Written aside first, then given its name: nobody ever reads half a key, and the first to name it wins (K3). */
function addGeneration(folder: string, number: number): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const stored: StoredGeneration = {
    mac: randomBytes(32).toString('hex'),
    wrap: randomBytes(32).toString('hex'),
    sign: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
  const name = String(number).padStart(4, '0')
  const aside = join(folder, `.${randomBytes(8).toString('hex')}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(aside, JSON.stringify(stored), { mode: 0o600, flag: 'wx', flush: true })
    linkSync(aside, join(folder, `${name}.json`))
    writeFileSync(join(folder, `${name}.pub.pem`), publicKey.export({ type: 'spki', format: 'pem' }), {
      mode: 0o644,
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(folder, error)
  } finally {
    rmSync(aside, { force: true })
  }
}

function unusable(path: string, cause: unknown): LockstepError {
  return new LockstepError('journal_unreadable', `The keys in ${path} cannot be used.`, {
    cause,
    consequence: 'pause',
    hint: 'Restore them from a copy. Without its keys a journal cannot be read or continued.',
  })
}
