import { randomBytes } from 'node:crypto'

const lifetime = 5 * 60_000
const mostKept = 5000

/** What browsers have to sign: each counts once, for a few minutes, for whom it was made. */
export class Challenges {
  readonly #now: () => number
  readonly #made = new Map<string, { readonly user: string | null; readonly expiresAt: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** A challenge in base64url; null is for whoever will answer. */
  make(user: string | null): string {
    const challenge = randomBytes(32).toString('base64url')
    this.#made.set(challenge, { user, expiresAt: this.#now() + lifetime })
    // The oldest first: who asks for many makes others ask again, and no more.
    while (this.#made.size > mostKept) this.#made.delete(this.#made.keys().next().value!)
    return challenge
  }

  /** Uses a challenge up; false if it was not made for that user, was used, or is too old. */
  take(challenge: string, user: string | null): boolean {
    const made = this.#made.get(challenge)
    this.#made.delete(challenge)
    return made !== undefined && made.user === user && this.#now() < made.expiresAt
  }
}
