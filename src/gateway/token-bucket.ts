import { RequestError } from './problem.ts'

/** How much one sender may send. */
export interface Rate {
  /** Requests a second in the long run. */
  readonly perSecond: number
  /** Requests at once, from the first one on. */
  readonly burst: number
}

/** 20 a second, 100 at once. */
export const defaultRate: Rate = { perSecond: 20, burst: 100 }

const mostKept = 10_000

/** A bucket of tokens for every sender: full at first, filled at a steady rate, one token a request. */
export class TokenBuckets {
  readonly #rate: Rate
  readonly #now: () => number
  readonly #buckets = new Map<string, { tokens: number; at: number }>()

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate
    this.#now = now
  }

  /** Takes a token of the sender. Throws `rate_limited`, with the time after which there is one again, if there is none. */
  take(sender: string): void {
    const { perSecond, burst } = this.#rate
    const now = this.#now()
    const bucket = this.#buckets.get(sender) ?? this.#add(sender, now)
    // A clock that was set back gives nothing and takes nothing.
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond)
    bucket.at = Math.max(bucket.at, now)
    if (bucket.tokens >= 1) {
      bucket.tokens--
      return
    }
    const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
    throw tooMany(seconds)
  }

  #add(sender: string, now: number): { tokens: number; at: number } {
    if (this.#buckets.size >= mostKept) this.#makeRoom(now)
    const bucket = { tokens: this.#rate.burst, at: now }
    this.#buckets.set(sender, bucket)
    return bucket
  }

  /** A bucket that is full again says nothing; where too few are, the oldest go, many at a time so that it is seldom done. */
  #makeRoom(now: number): void {
    const { perSecond, burst } = this.#rate
    for (const [sender, { tokens, at }] of this.#buckets)
      if (tokens + ((now - at) / 1000) * perSecond >= burst) this.#buckets.delete(sender)
    for (const sender of this.#buckets.keys()) {
      if (this.#buckets.size < mostKept * 0.9) return
      this.#buckets.delete(sender)
    }
  }
}

/** The answer to who sends too much. */
export function tooMany(seconds: number, message = 'Too many requests.'): RequestError {
  return new RequestError('rate_limited', message, {
    hint: `Try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  })
}
