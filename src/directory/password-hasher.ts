/**
 * Hashes of passwords.
 *
 * Invariants
 * W1  A hash says how it was made, so that newer ones can be made in another way.
 * W2  Few are computed at once, and few wait: signing in never takes the whole machine.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { LockstepError } from '../shared/lockstep-error.ts'

/** How much work a hash is: memory and rounds of scrypt. */
export interface PasswordCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** Those of OWASP's parameters that take 32 MB: as hard to guess as those that take more. */
export const safeCost: PasswordCost = { N: 2 ** 15, r: 8, p: 3 }

const length = 32
const mostAtOnce = 2
const mostWaiting = 50
const pattern = /^scrypt\$N=(\d+),r=(\d+),p=(\d+)\$([\w+/=]+)\$([\w+/=]+)$/

/** Makes and checks hashes of passwords. */
export class PasswordHasher {
  readonly #cost: PasswordCost
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(cost: PasswordCost = safeCost) {
    this.#cost = cost
  }

  /** What is kept of a password. Throws `rate_limited` while too many are being computed. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16)
    const { N, r, p } = this.#cost
    const hash = await this.#derive(password, salt, this.#cost)
    return `scrypt$N=${N},r=${r},p=${p}$${salt.toString('base64')}$${hash.toString('base64')}`
  }

  /**
   * Says whether the password is the one that was hashed; for null, where there is no hash, it takes as long to say no. Throws `rate_limited` while too many are
   * being computed.
   */
  async check(password: string, hashed: string | null): Promise<boolean> {
    const [, N, r, p, salt, hash] = pattern.exec(hashed ?? '') ?? []
    if (salt === undefined || hash === undefined) {
      await this.#derive(password, Buffer.alloc(16), this.#cost)
      return false
    }
    const kept = Buffer.from(hash, 'base64')
    const cost = { N: Number(N), r: Number(r), p: Number(p) }
    const given = await this.#derive(password, Buffer.from(salt, 'base64'), cost)
    return kept.length === given.length && timingSafeEqual(kept, given)
  }

  async #derive(password: string, salt: Buffer, { N, r, p }: PasswordCost): Promise<Buffer> {
    await this.#take()
    try {
      return await new Promise<Buffer>((resolve, reject) => {
        const options = { N, r, p, maxmem: 256 * N * r }
        // The same letters count, however a keyboard composes them.
        scrypt(password.normalize('NFKC'), salt, length, options, (error, key) =>
          error === null ? resolve(key) : reject(error),
        )
      })
    } finally {
      this.#giveBack()
    }
  }

  async #take(): Promise<void> {
    if (this.#running < mostAtOnce) {
      this.#running++
      return
    }
    if (this.#waiting.length >= mostWaiting)
      throw new LockstepError('rate_limited', 'Too many people are signing in at once.', {
        consequence: 'retry',
        hint: 'Try again in a few seconds.',
      })
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** The place goes to the next in line without becoming free in between. */
  #giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running--
    else next()
  }
}
