import type { MarkdownPiece, MarkdownText } from './markdown-block.ts'
import type { MarkdownLine } from './markdown-line.ts'

/** A text that grows line by line. Most stay on one line, and then their one piece is made only for those who ask. */
export class GrowingText implements MarkdownText {
  text = ''
  first: MarkdownLine
  /** Where the text begins on its first line; -1 while there is none. */
  #column = -1
  #pieces: MarkdownPiece[] | null = null

  /** `near` is the line that stands for it while it holds none of its own. */
  constructor(near: MarkdownLine) {
    this.first = near
  }

  get pieces(): readonly MarkdownPiece[] {
    return this.#pieces ?? (this.#column === -1 ? [] : [this.#firstPiece()])
  }

  /** Adds a line of prose. Longer gaps than anybody writes become one blank, so that no form is slow to match. */
  addProse(line: MarkdownLine, column: number, text: string): void {
    if (text.length < 65 || !gap.test(text)) return this.add(line, column, text)
    let at = 0
    for (const part of text.split(gap)) {
      at = text.indexOf(part, at)
      this.add(line, column + at, part)
      at += part.length
    }
  }

  add(line: MarkdownLine, column: number, text: string): void {
    if (this.#column === -1) {
      this.first = line
      this.#column = column
      this.text = text
      return
    }
    this.#pieces ??= [this.#firstPiece()]
    this.#pieces.push({ at: this.text.length + 1, line, column })
    this.text += `\n${text}`
  }

  #firstPiece(): MarkdownPiece {
    return { at: 0, line: this.first, column: this.#column }
  }
}

const gap = /\s{65,}/
