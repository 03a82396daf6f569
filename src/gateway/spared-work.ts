interface Done<Result> {
  readonly result: Result
  readonly until: number
}

/** How many times as long as it took an answer is given again. */
const restFactor = 10
const mostKept = 100

/**
 * Work that takes long and comes out the same for everybody who asks for the same: who asks while it is done waits for it, and its result is given again for ten times as long as
 * it took. So nobody, however often they ask, has the process do nothing else.
 */
export class SparedWork<Result> {
  readonly #now: () => number
  readonly #under = new Map<string, Promise<Result>>()
  readonly #done = new Map<string, Done<Result>>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** The result of the work for the key, done now or a short while ago. */
  async of(key: string, work: () => Promise<Result>): Promise<Result> {
    const done = this.#done.get(key)
    if (done !== undefined && this.#now() < done.until) return done.result
    const under = this.#under.get(key)
    if (under !== undefined) return await under
    const began = this.#now()
    const doing = work()
    this.#under.set(key, doing)
    try {
      const result = await doing
      if (this.#done.size >= mostKept) this.#done.clear()
      this.#done.set(key, { result, until: this.#now() + restFactor * (this.#now() - began) })
      return result
    } finally {
      this.#under.delete(key)
    }
  }
}
