/**
 * Secrets by name, encrypted, in one file.
 *
 * Owns: the file `secrets.json` of a data folder.
 * Talks to: the key of the store.
 *
 * Invariants
 * T1  No secret is in the file but encrypted, with its name as associated data: an entry under another name, or from another store, is no secret.
 * T2  The file is sealed as a whole: nothing is used of one that was changed, cut off or made with another key, and it is left as it is.
 * T3  The file is replaced as a whole, by one writer at a time, and is readable by its owner alone.
 * T4  No message of an error holds a secret.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { canonicalJson } from '../shared/canonical-json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { dataFolder, makeFolder } from './data-folder.ts'
import { LockHeldError, withFileLock } from './file-lock.ts'
import {
  makeSecretKey,
  readSecretKey,
  type SecretKey,
  secretKeyPath,
  secretKeyVariable,
} from './secret-key.ts'
import { checkSecretName } from './secret-name.ts'
import { writeWholeFile } from './write-whole-file.ts'

const format = 'lockstep.secrets'
const version = 1

const entrySchema = z.strictObject({
  name: z.string(),
  setAt: z.string(),
  iv: z.string(),
  tag: z.string(),
  data: z.string(),
})
const fileSchema = z.strictObject({
  format: z.literal(format),
  version: z.literal(version),
  key: z.string(),
  entries: z.array(entrySchema),
  seal: z.string(),
})

type Entry = Readonly<z.infer<typeof entrySchema>>

/** A secret as a list shows it. */
export interface StoredSecret {
  readonly name: string
  /** When it was set, ISO 8601 in UTC. */
  readonly setAt: string
}

/** The fewest characters of a secret: shorter ones could not be kept out of what is shown. */
export const fewestCharacters = 4
/** The most bytes of a secret. */
export const mostBytes = 65_536

/** What a store is opened with. */
export interface SecretStoreOptions {
  /** The data folder. */
  readonly home?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly now?: () => number
}

/** The secrets of a data folder. Opening one reads and makes nothing. */
export class SecretStore {
  readonly path: string
  readonly #home: string
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #now: () => number

  constructor({ home, env = process.env, now = Date.now }: SecretStoreOptions = {}) {
    this.#home = home ?? dataFolder(env)
    this.#env = env
    this.#now = now
    this.path = join(this.#home, 'secrets.json')
  }

  /** The names in order, and when each was set. Throws `secret_store_unreadable`. */
  list(): readonly StoredSecret[] {
    return this.#read().entries.map(({ name, setAt }) => ({ name, setAt }))
  }

  /** The secret; null if there is none of that name. Throws `secret_store_unreadable`. */
  get(name: string): string | null {
    const { key, entries } = this.#read()
    const entry = entries.find((each) => each.name === name)
    return entry === undefined || key === null ? null : this.#open(entry, key)
  }

  /** Sets a secret, and says whether there was one. Throws `invalid_value`, `secret_store_unreadable`, `secret_store_unwritable`. */
  async set(name: string, value: string): Promise<'new' | 'replaced'> {
    checkSecretName(name)
    checkValue(value)
    return await this.#change((entries, key) => {
      const setAt = new Date(this.#now()).toISOString()
      const others = entries.filter((each) => each.name !== name)
      const entry = { name, setAt, ...key.encrypt(value, associated(name, setAt)) }
      const said = others.length < entries.length ? ('replaced' as const) : ('new' as const)
      return { entries: [...others, entry], said }
    })
  }

  /** Removes a secret. Throws `secret_unavailable` if there is none, `secret_store_unreadable`, `secret_store_unwritable`. */
  async remove(name: string): Promise<void> {
    // Where there is nothing, nothing is made.
    if (!this.list().some((each) => each.name === name)) throw this.#unknown(name)
    await this.#change((entries) => {
      const others = entries.filter((each) => each.name !== name)
      if (others.length === entries.length) throw this.#unknown(name)
      return { entries: others, said: null }
    })
  }

  async #change<Said>(
    change: (entries: readonly Entry[], key: SecretKey) => { entries: readonly Entry[]; said: Said },
  ): Promise<Said> {
    try {
      makeFolder(this.#home)
      return await withFileLock(this.path, () => {
        const before = this.#read()
        const key = before.key ?? makeSecretKey(this.#home, this.#env)
        const { entries, said } = change(before.entries, key)
        writeWholeFile(this.path, render(entries, key), 0o600)
        return said
      })
    } catch (cause) {
      if (LockstepError.isInstance(cause)) throw cause
      throw new LockstepError(
        'secret_store_unwritable',
        `The secret store ${this.path} cannot be written: ${messageOf(cause)}. Nothing was changed.`,
        { consequence: 'retry', cause, hint: hintFor(cause) },
      )
    }
  }

  /** Everything there is; the key is null where there is no file yet. */
  #read(): { readonly key: SecretKey | null; readonly entries: readonly Entry[] } {
    let text: string
    try {
      text = readFileSync(this.path, 'utf8')
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT') return { key: null, entries: [] }
      throw this.#unreadable(`cannot be read (${code})`, 'give the permission to read it')
    }
    const file = this.#parse(text)
    const key = readSecretKey(this.#home, this.#env)
    if (key === null)
      throw this.#unreadable('has no key', `restore ${secretKeyPath(this.#home)} or set ${secretKeyVariable}`)
    if (key.id !== file.key)
      throw this.#unreadable(
        'was written with another key',
        `restore ${secretKeyPath(this.#home)}, or set ${secretKeyVariable} to the key it was written with`,
      )
    if (!key.isSeal(file.seal, sealed(file.key, file.entries)))
      throw this.#unreadable('was changed by something else than Lockstep', 'restore it from a copy')
    return { key, entries: file.entries }
  }

  #parse(text: string): z.infer<typeof fileSchema> {
    try {
      return fileSchema.parse(JSON.parse(text))
    } catch {
      // What the parser says quotes the text, which helps nobody here.
      throw this.#unreadable('is not whole, or no secret store of this version', 'restore it from a copy')
    }
  }

  #open(entry: Entry, key: SecretKey): string {
    try {
      return key.decrypt(entry, associated(entry.name, entry.setAt))
    } catch {
      throw this.#unreadable(`holds no secret in the place of ${entry.name}`, 'restore it from a copy')
    }
  }

  #unreadable(what: string, hint: string): LockstepError {
    return new LockstepError(
      'secret_store_unreadable',
      `The secret store ${this.path} ${what}. It was left as it is.`,
      { consequence: 'pause', hint: `${hint}; if that is lost, move the file away and set the secrets anew` },
    )
  }

  #unknown(name: string): LockstepError {
    const nearest = nearestName(
      name,
      this.list().map((each) => each.name),
    )
    return new LockstepError('secret_unavailable', `There is no secret ${name} in ${this.path}.`, {
      hint: nearest === null ? 'lockstep secret list shows those that are there' : `did you mean ${nearest}?`,
    })
  }
}

/** The name is part of what is authenticated, so that no entry can take the place of another (T1). */
function associated(name: string, setAt: string): string {
  return canonicalJson([format, version, name, setAt])
}

function sealed(key: string, entries: readonly Entry[]): string {
  return canonicalJson({ format, version, key, entries: entries.map((entry) => ({ ...entry })) })
}

function render(entries: readonly Entry[], key: SecretKey): string {
  const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const file = { format, version, key: key.id, entries: sorted, seal: key.seal(sealed(key.id, sorted)) }
  return `${JSON.stringify(file, null, 2)}\n`
}

function checkValue(value: string): void {
  if (value.length < fewestCharacters) throw refuse(`has at least ${fewestCharacters} characters`)
  if (Buffer.byteLength(value) > mostBytes) throw refuse(`has at most ${mostBytes} bytes`)
  if (value.includes('\0') || !value.isWellFormed()) throw refuse('is text')
}

function refuse(what: string): LockstepError {
  return new LockstepError('invalid_value', `A secret ${what}. Nothing was set.`)
}

function hintFor(cause: unknown): string {
  return cause instanceof LockHeldError
    ? `let it finish; if that process is gone, remove ${cause.path}`
    : 'set LOCKSTEP_HOME to a folder that can be written'
}
