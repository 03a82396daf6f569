/**
 * The key of the secret store.
 *
 * Owns: the file `keys/secrets.json` of a data folder.
 *
 * Invariants
 * S1  `LOCKSTEP_SECRET_KEY` goes before the file, and is never written down.
 * S2  A key is made only where it is asked for, is readable by its owner alone, and is never replaced: the first one stays.
 * S3  No message of an error holds a key.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LockstepError } from '../shared/lockstep-error.ts'
import { makeFolder } from './data-folder.ts'

/** A text that was encrypted; all of it Base64. */
export interface Encrypted {
  readonly iv: string
  readonly tag: string
  readonly data: string
}

/** The variable that holds the key where it is not kept in a file. */
export const secretKeyVariable = 'LOCKSTEP_SECRET_KEY'

/** Encrypts, decrypts and seals under one key; `id` tells keys apart and says nothing about them. */
export class SecretKey {
  readonly id: string
  readonly #encrypting: Buffer
  readonly #sealing: Buffer

  constructor(key: Buffer) {
    const derive = (use: string) => Buffer.from(hkdfSync('sha256', key, '', `lockstep.secrets 1 ${use}`, 32))
    this.id = derive('id').toString('hex').slice(0, 16)
    this.#encrypting = derive('encrypt')
    this.#sealing = derive('seal')
  }

  /** The text under AES-256-GCM; only who gives the same `about` decrypts it. */
  encrypt(text: string, about: string): Encrypted {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#encrypting, iv)
    cipher.setAAD(Buffer.from(about))
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return { iv: base64(iv), tag: base64(cipher.getAuthTag()), data: base64(data) }
  }

  /** The text again. Throws if anything about it is not as it was encrypted. */
  decrypt({ iv, tag, data }: Encrypted, about: string): string {
    const cipher = createDecipheriv('aes-256-gcm', this.#encrypting, Buffer.from(iv, 'base64'), {
      authTagLength: 16,
    })
    cipher.setAAD(Buffer.from(about))
    cipher.setAuthTag(Buffer.from(tag, 'base64'))
    return Buffer.concat([cipher.update(Buffer.from(data, 'base64')), cipher.final()]).toString('utf8')
  }

  /** What only this key makes of the text. */
  seal(text: string): string {
    return createHmac('sha256', this.#sealing).update(text).digest('hex')
  }

  /** Says whether a seal is that of the text. */
  isSeal(seal: string, text: string): boolean {
    const [given, right] = [Buffer.from(seal), Buffer.from(this.seal(text))]
    return given.length === right.length && timingSafeEqual(given, right)
  }
}

/** Where the key of a data folder is kept. */
export function secretKeyPath(home: string): string {
  return join(home, 'keys', 'secrets.json')
}

/** The key of a data folder; null if there is none yet. Throws `secret_store_unreadable` for one that is no key. */
export function readSecretKey(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
): SecretKey | null {
  const given = env[secretKeyVariable] ?? ''
  if (given !== '') return keyOf(given, `The variable ${secretKeyVariable}`, howToWrite)
  const path = secretKeyPath(home)
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as { readonly key?: unknown }
    return keyOf(String(stored.key), path, restore)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    if (LockstepError.isInstance(error)) throw error
    const { code } = error as NodeJS.ErrnoException
    throw unusable(path, code === undefined ? 'holds no key' : `cannot be read (${code})`, restore)
  }
}

/** The key of a data folder, made if there is none yet (S2). Throws what the file system throws, and `secret_store_unreadable`. */
export function makeSecretKey(home: string, env: Readonly<Record<string, string | undefined>>): SecretKey {
  const known = readSecretKey(home, env)
  if (known !== null) return known
  const path = secretKeyPath(home)
  const folder = join(home, 'keys')
  makeFolder(folder)
  const aside = join(folder, `.${randomBytes(8).toString('hex')}`)
  try {
    const text = JSON.stringify({ key: randomBytes(32).toString('hex') })
    writeFileSync(aside, text, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(aside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
  return readSecretKey(home, env)!
}

const restore = 'restore it from a copy; without it no secret of the store can be read'
const howToWrite = 'a key is 32 random bytes: `openssl rand -hex 32` makes one'

/** 32 bytes in hexadecimal or Base64. A word that somebody thought of is no key: it could be guessed. */
function keyOf(text: string, where: string, hint: string): SecretKey {
  const trimmed = text.trim()
  const hex = /^[0-9a-f]{64}$/i.test(trimmed)
  if (!hex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed))
    throw unusable(where, 'holds no key of 32 bytes in hexadecimal or Base64', hint)
  return new SecretKey(Buffer.from(trimmed, hex ? 'hex' : 'base64'))
}

function unusable(where: string, what: string, hint: string): LockstepError {
  return new LockstepError('secret_store_unreadable', `${where} ${what}.`, { consequence: 'pause', hint })
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64')
}
