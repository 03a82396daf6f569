import { LockstepError } from '../shared/lockstep-error.ts'

/** From how many failures in a row on one has to wait, and for how long at most. */
interface Patience {
  readonly free: number
  readonly longest: number
}

/**
 * Somebody who tries from one address waits first; the account itself only after many failures from everywhere, and not for long, so that nobody can
 * shut its owner out.
 */
const patience = {
  pair: { free: 5, longest: 15 * 60_000 },
  address: { free: 30, longest: 15 * 60_000 },
  account: { free: 100, longest: 30_000 },
} as const satisfies Record<string, Patience>

interface Failures {
  readonly count: number
  readonly last: number
}

const forgottenAfter = 3_600_000
const mostKept = 10_000

/** The error of somebody who has to wait; the gateway says for how long. */
export class MustWaitError extends LockstepError {
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super('rate_limited', 'There were too many attempts to sign in.', {
      consequence: 'retry',
      hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    })
    this.retryAfterMs = retryAfterMs
  }
}

/** Makes guessing slow: every failure beyond the first few doubles the time until the next attempt is looked at. */
export class SignInBackoff {
  readonly #now: () => number
  readonly #failures = new Map<string, Failures>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Throws `rate_limited` while the account or the address has to wait. */
  check(account: string, address: string): void {
    const wait = Math.max(...keysOf(account, address).map(([key, kind]) => this.#wait(key, patience[kind])))
    if (wait > 0) throw new MustWaitError(wait)
  }

  failed(account: string, address: string): void {
    const now = this.#now()
    for (const [key] of keysOf(account, address)) {
      const { count } = this.#recent(key)
      // Put at the end, so that what is dropped first is what failed longest ago.
      this.#failures.delete(key)
      this.#failures.set(key, { count: count + 1, last: now })
    }
    while (this.#failures.size > mostKept) this.#failures.delete(this.#failures.keys().next().value!)
  }

  /** The right password takes back what was counted for it, and all that was said of the account; what else came from the address stays counted. */
  succeeded(account: string, address: string): void {
    for (const [key, kind] of keysOf(account, address)) {
      const { count, last } = this.#recent(key)
      if (kind === 'address' && count > 1) this.#failures.set(key, { count: count - 1, last })
      else this.#failures.delete(key)
    }
  }

  #wait(key: string, { free, longest }: Patience): number {
    const { count, last } = this.#recent(key)
    if (count < free) return 0
    return Math.max(0, last + Math.min(longest, 1000 * 2 ** Math.min(count - free, 20)) - this.#now())
  }

  #recent(key: string): Failures {
    const known = this.#failures.get(key)
    return known === undefined || this.#now() - known.last > forgottenAfter ? { count: 0, last: 0 } : known
  }
}

function keysOf(account: string, address: string): readonly (readonly [string, keyof typeof patience])[] {
  return [
    [JSON.stringify(['pair', account, address]), 'pair'],
    [JSON.stringify(['address', address]), 'address'],
    [JSON.stringify(['account', account]), 'account'],
  ]
}
