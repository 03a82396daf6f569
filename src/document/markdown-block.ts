import type { MarkdownLine } from './markdown-line.ts'

/** A stretch of text that may run over several lines, joined by line feeds; each piece knows where it stands. */
export interface MarkdownText {
  readonly text: string
  /** The line it begins on; of a block of code that holds nothing, the line of its fence. */
  readonly first: MarkdownLine
  readonly pieces: readonly MarkdownPiece[]
}

/** One line's share of a text: it begins at `at` in the text and at `column` (from 0) of the line. */
export interface MarkdownPiece {
  readonly at: number
  readonly line: MarkdownLine
  readonly column: number
}

/** What a Markdown text is made of, as far as it has structure. Emphasis, links and the like stay in the text as written. */
export type MarkdownBlock =
  | { readonly kind: 'heading'; readonly level: number; readonly text: MarkdownText }
  | MarkdownItem
  | { readonly kind: 'paragraph'; readonly text: MarkdownText }
  | MarkdownCode
  /** What stands between `<tag>` and `</tag>` on lines of their own, both included: no structure inside. */
  | { readonly kind: 'template'; readonly tag: string; readonly text: MarkdownText }
  | { readonly kind: 'break'; readonly line: MarkdownLine }

/** A bullet or a numbered item, and what is indented below it. */
export interface MarkdownItem {
  readonly kind: 'item'
  readonly indent: number
  readonly text: MarkdownText
  readonly children: readonly MarkdownBlock[]
}

/** A fenced block of code; `closed` says whether its fence ends before the text does. */
export interface MarkdownCode {
  readonly kind: 'code'
  readonly language: string
  readonly content: MarkdownText
  readonly fence: MarkdownLine
  readonly closed: boolean
}

/** Where an offset of a text stands: the line, and the column counted from 1. */
export function placeInText(text: MarkdownText, offset: number): { line: MarkdownLine; column: number } {
  let low = 0
  let high = text.pieces.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (text.pieces[middle]!.at <= offset) low = middle
    else high = middle - 1
  }
  const piece = text.pieces[low]!
  const column = piece.column + Math.max(0, offset - piece.at)
  // An import's indentation is not in the file.
  return {
    line: piece.line,
    column: Math.max(0, Math.min(column, piece.line.text.length) - piece.line.shift) + 1,
  }
}
