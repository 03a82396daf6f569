/**
 * Lets the calls of one run through one after another (G5).
 *
 * Owns: the order of calls in flight.
 *
 * Invariants
 * Q1  First come, first served; who stepped back goes to the front again, behind those who did so before.
 * Q2  Readers may run together; everything else runs alone.
 * Q3  A slot that was given is always given back, however the work ends.
 */
export class CallQueue {
  readonly #waiting: { readonly shared: boolean; readonly front: boolean; readonly start: () => void }[] = []
  #readers = 0
  #alone = false

  /** Waits for a slot, runs the work in it, and gives the slot back. */
  async run<Result>(shared: boolean, work: () => Promise<Result>, front = false): Promise<Result> {
    await this.#enter(shared, front)
    try {
      return await work()
    } finally {
      if (shared) this.#readers--
      else this.#alone = false
      this.#pump()
    }
  }

  /** Says whether other readers are in flight beside the one that asks. */
  get crowded(): boolean {
    return this.#readers > 1
  }

  #enter(shared: boolean, front: boolean): Promise<void> {
    return new Promise((resolve) => {
      const entry = { shared, front, start: resolve }
      const behind = front ? this.#waiting.findIndex((other) => !other.front) : -1
      if (behind === -1) this.#waiting.push(entry)
      else this.#waiting.splice(behind, 0, entry)
      this.#pump()
    })
  }

  #pump(): void {
    for (;;) {
      const next = this.#waiting[0]
      if (next === undefined || this.#alone || (!next.shared && this.#readers > 0)) return
      this.#waiting.shift()
      if (next.shared) this.#readers++
      else this.#alone = true
      next.start()
    }
  }
}
