import type { MarkdownLine } from './markdown-line.ts'

/** Blanks out `<!-- comments -->`, also those that run over several lines, so that every other character keeps its place. */
export class CommentMask {
  /** The line on which a comment began that has not ended. */
  openedAt: MarkdownLine | null = null

  /** The text of the line with comments as blanks. Lines must be given in order. */
  mask(line: MarkdownLine): string {
    const { text } = line
    if (this.openedAt === null && !text.includes('<!--')) return text
    let out = ''
    let at = 0
    while (at < text.length) {
      if (this.openedAt === null) {
        const found = text.indexOf('<!--', at)
        const until = found === -1 ? text.length : found
        out += text.slice(at, until)
        at = until
        if (found !== -1) this.openedAt = line
      } else {
        const found = text.indexOf('-->', at)
        const until = found === -1 ? text.length : found + 3
        out += ' '.repeat(until - at)
        at = until
        if (found !== -1) this.openedAt = null
      }
    }
    return out
  }
}
