/** One line of a Markdown text, and where it stands. Lines of imported files keep their own place. */
export interface MarkdownLine {
  readonly file: string | null
  /** Counts from 1. */
  readonly number: number
  /** Where the line begins in the text of its file. */
  readonly offset: number
  /** The line without its line break. */
  readonly text: string
  /** Blanks that an import put before the line; they are not in the file. */
  readonly shift: number
}

/** The lines of a text; a line break is a line feed, with or without a carriage return before it. */
export function splitLines(text: string, file: string | null = null): MarkdownLine[] {
  const lines: MarkdownLine[] = []
  let from = text.startsWith('\uFEFF') ? 1 : 0
  for (let number = 1; from <= text.length; number++) {
    const found = text.indexOf('\n', from)
    const next = found === -1 ? text.length : found
    const end = next > from && text.charCodeAt(next - 1) === 13 ? next - 1 : next
    lines.push({ file, number, offset: from, text: text.slice(from, end), shift: 0 })
    from = next + 1
  }
  // What follows the last line break is a line only if there is something.
  if (lines.length > 1 && lines.at(-1)!.text === '') lines.pop()
  return lines
}
