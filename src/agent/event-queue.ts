/** Hands values from whoever makes them to one reader, in order; nothing is lost while the reader is away. */
export class EventQueue<Value> implements AsyncIterable<Value> {
  readonly #values: Value[] = []
  #ended = false
  #wake: (() => void) | null = null

  push(value: Value): void {
    this.#values.push(value)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    for (;;) {
      while (this.#values.length > 0) yield this.#values.shift()!
      if (this.#ended) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = null
    }
  }
}
