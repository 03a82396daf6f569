/** A place in a text: both count from 1. */
export type Position = { readonly line: number; readonly column: number }

/** Turns offsets into lines and columns, in the time of a binary search. */
export class LineIndex {
  readonly #text: string
  readonly #starts: number[] = [0]

  constructor(text: string) {
    this.#text = text
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  /** The place of the offset; one beyond the end is the end. */
  positionOf(offset: number): Position {
    const clamped = Math.max(0, Math.min(offset, this.#text.length))
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#starts[middle]! <= clamped) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: clamped - this.#starts[low]! + 1 }
  }

  /** The text of the line without its line break; empty when there is no such line. */
  lineText(line: number): string {
    const start = this.#starts[line - 1]
    if (start === undefined) return ''
    const text = this.#text.slice(start, this.#starts[line])
    return text.replace(/\r?\n$/, '')
  }
}
