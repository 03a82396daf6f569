/**
 * Finds secrets when they are used, and keeps them out of everything that is shown or kept.
 *
 * Owns: the secrets that were resolved so far.
 * Talks to: the environment, files, programs that print a secret, and the secret store.
 *
 * Invariants
 * V1  Only a reference from a configuration or a playbook is resolved; no text of a run ever becomes one (G19).
 * V2  What was resolved once is masked in every text and value that passes `mask`, also where it is encoded.
 * V3  A cut never leaves half of a secret.
 * V4  No message of an error holds a secret.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Json } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { mask, SecretMask, shortestSecret } from '../shared/secret-mask.ts'

/** Where a secret is to be found. */
export type SecretReference =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'exec'; readonly command: readonly string[]; readonly cwd: string }
  | { readonly from: 'store'; readonly name: string }

/** Looks a secret up in the store; null if there is none of that name. */
export type StoredSecrets = (name: string) => Promise<string | null>

const run = promisify(execFile)

/** Resolves references, and masks what it resolved. */
export class SecretVault {
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #stored: StoredSecrets
  readonly #mask = new SecretMask()

  /** Without `stored`, nothing is in the store. */
  constructor(
    env: Readonly<Record<string, string | undefined>> = process.env,
    stored: StoredSecrets = async () => null,
  ) {
    this.#env = env
    this.#stored = stored
  }

  /** The secret. Throws `secret_unavailable` if it cannot be had; the message names the reference only. */
  async resolve(reference: SecretReference): Promise<string> {
    const secret = await this.#read(reference)
    if (secret.length < shortestSecret) {
      const what = secret === '' ? 'is empty' : `has fewer than ${shortestSecret} characters`
      throw unavailable(reference, what)
    }
    this.#mask.learn(secret)
    return secret
  }

  /** The text with a mask in the place of every secret that was resolved so far (V2). */
  maskText(text: string): string {
    return this.#mask.maskText(text)
  }

  /** How many letters at the end of the text are the beginning of a secret, whose rest may follow. */
  openEnd(text: string): number {
    return this.#mask.openEnd(text)
  }

  /** The masked text up to a length. `whole` says whether more would have followed; a secret whose rest is cut off goes too (V3). */
  cutText(text: string, most: number, whole: boolean): string {
    return this.#mask.cutText(text, most, whole)
  }

  /** The value with a mask in the place of every secret, in keys too. */
  maskJson(value: Json): Json {
    return this.#mask.maskJson(value)
  }

  async #read(reference: SecretReference): Promise<string> {
    try {
      switch (reference.from) {
        case 'env': {
          const value = this.#env[reference.name]
          if (value === undefined) throw unavailable(reference, 'is not set')
          return value
        }
        case 'file':
          return trimEnd(await readFile(reference.path, 'utf8'))
        case 'exec': {
          const [program = '', ...args] = reference.command
          // Whoever prints one secret does not need the key of all others.
          const env = { ...process.env, LOCKSTEP_SECRET_KEY: undefined }
          const options = { cwd: reference.cwd, env, timeout: 30_000, maxBuffer: 65_536 }
          return trimEnd((await run(program, args, options)).stdout)
        }
        case 'store': {
          const secret = await this.#stored(reference.name)
          if (secret === null) throw unavailable(reference, 'is not in the store')
          return secret
        }
      }
    } catch (error) {
      if (LockstepError.isInstance(error)) throw error
      // What a program printed before it failed may be the secret: only its code is told (V4).
      const code = (error as { code?: unknown }).code
      throw unavailable(reference, `cannot be had${code === undefined ? '' : ` (${String(code)})`}`)
    }
  }
}

/** How a reference is written, for people. */
export function describeReference(reference: SecretReference): string {
  switch (reference.from) {
    case 'env':
      return `env:${reference.name}`
    case 'file':
      return `file:${reference.path}`
    case 'exec':
      return `exec:${reference.command[0]}`
    case 'store':
      return `store:${reference.name}`
  }
}

/** What stands for a secret where only its place is shown: which one it would be. */
export function showReference(reference: SecretReference): string {
  const text = `[secret ${describeReference(reference)}]`
  // Also where only these letters can stand, as in a header.
  return /^[\x20-\x7e]*$/.test(text) ? text : mask
}

function unavailable(reference: SecretReference, what: string): LockstepError {
  const hint =
    reference.from === 'store' ? { hint: `lockstep secret set ${reference.name} puts it there` } : {}
  return new LockstepError('secret_unavailable', `The secret ${describeReference(reference)} ${what}.`, hint)
}

function trimEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}
