import { createHash, timingSafeEqual } from 'node:crypto'
import { LockstepError } from '../shared/lockstep-error.ts'

/** Who may call over HTTP: names, each with the token that proves it. */
export class Callers {
  readonly #digests: readonly { readonly name: string; readonly digest: Buffer }[]

  private constructor(digests: readonly { readonly name: string; readonly digest: Buffer }[]) {
    this.#digests = digests
  }

  /** One caller. */
  static single(name: string, token: string): Callers {
    return new Callers([{ name, digest: hash(token) }])
  }

  /**
   * Callers as a file gives them: `env:NAME` is the variable that holds the token, `sha256:…` the digest of it. A token itself does not
   * belong in a file, and is refused. Throws `invalid_value`.
   */
  static read(value: unknown, environment: Readonly<Record<string, string | undefined>>): Callers {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw refused('it is not an object with a reference under each name')
    }
    const digests = Object.entries(value).map(([name, reference]) => {
      const text = typeof reference === 'string' ? reference : ''
      const hex = /^sha256:([0-9a-f]{64})$/.exec(text)?.[1]
      if (hex !== undefined) return { name, digest: Buffer.from(hex, 'hex') }
      const variable = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1]
      if (variable === undefined) throw refused(`'${name}' has neither env:NAME nor sha256:…`)
      const token = environment[variable] ?? ''
      if (token === '') throw refused(`the variable ${variable} of '${name}' is not set`)
      return { name, digest: hash(token) }
    })
    if (digests.length === 0) throw refused('it names nobody')
    const byDigest = new Map<string, string>()
    for (const { name, digest } of digests) {
      const other = byDigest.get(digest.toString('hex'))
      // A token proves who calls, so it is one caller's.
      if (other !== undefined) throw refused(`'${other}' and '${name}' have the same token`)
      byDigest.set(digest.toString('hex'), name)
    }
    return new Callers(digests)
  }

  /** Who sent this `Authorization` header; null if nobody that is known. Takes the same time for each. */
  identify(authorization: string | undefined): string | null {
    const token = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) return null
    const digest = hash(token)
    let found: string | null = null
    for (const caller of this.#digests) if (timingSafeEqual(caller.digest, digest)) found = caller.name
    return found
  }
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function refused(problem: string): LockstepError {
  return new LockstepError('invalid_value', `The callers cannot be used: ${problem}.`, {
    hint: 'a file of callers is { "name": "env:VARIABLE" } or { "name": "sha256:…" }',
  })
}
