/**
 * The canonical writing of a Markdown playbook.
 *
 * Invariants
 * 1. Only places that the outline gives a meaning change: headings of sections, bullets of sections, blank lines, blanks at the
 *    ends of lines. Front matter, code, templates, comments and prose stay as they are.
 * 2. Formatting what was formatted changes nothing.
 * 3. Nothing but blanks, bullet signs, the level and case of section headings and (where asked) the case of keywords changes.
 */
import type { MarkdownBlock, MarkdownItem, MarkdownText } from '../../document/markdown-block.ts'
import { CommentMask } from '../../document/markdown-comment.ts'
import { type MarkdownLine, splitLines } from '../../document/markdown-line.ts'
import { parseMarkdown } from '../../document/parse-markdown.ts'
import { sectionNamed } from '../markdown/program-draft.ts'
import { canonicalKeyword } from './canonical-keyword.ts'

/** How much is made canonical: everything; everything but the case of keywords; or only blanks and headings. */
export type FormatLevel = 'all' | 'bullets' | 'blanks'

/** The text in canonical writing. */
export function formatMarkdown(text: string, level: FormatLevel = 'all'): string {
  const lines = splitLines(text)
  const { blocks, front } = parseMarkdown(lines)
  const writer = new LineWriter(lines, level, front?.at(-1)?.number ?? 0)
  writer.blocks(blocks)
  const end = /\r?\n/.exec(text)?.[0] ?? '\n'
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return (
    mark +
    writer
      .close()
      .map((line) => line + end)
      .join('')
  )
}

/** The section that bullets stand in; null outside of all. */
type Section = ReturnType<typeof sectionNamed>

/** What a line is to become. */
interface Written {
  text: string
  /** Whether blank lines around it may be changed: not inside code, comments and the like. */
  kept: boolean
  heading: 'section' | 'other' | null
}

class LineWriter {
  readonly #lines: readonly MarkdownLine[]
  readonly #level: FormatLevel
  readonly #written: Written[]
  /** The lines that a comment stands on. */
  readonly #commented = new Set<number>()

  /** `frontEnd` is the number of the last line of the front matter. */
  constructor(lines: readonly MarkdownLine[], level: FormatLevel, frontEnd: number) {
    this.#lines = lines
    this.#level = level
    const mask = new CommentMask()
    this.#written = lines.map((line) => {
      const inside = mask.openedAt !== null
      if (mask.mask(line) !== line.text || inside) this.#commented.add(line.number)
      const isBlank = line.text.trim() === '' && !inside && line.number > frontEnd
      return { text: isBlank ? '' : line.text, kept: !isBlank, heading: null }
    })
  }

  blocks(blocks: readonly MarkdownBlock[]): void {
    let section: Section = null
    let inPlaybook = false
    for (const block of blocks) {
      if (block.kind !== 'heading') {
        this.#block(block, section, 0)
        continue
      }
      const opened = inPlaybook && block.level > 1 ? sectionNamed(block.text.text) : null
      this.#heading(block.level, block.text, opened)
      if (opened !== null) section = opened
      else if (block.level <= 3) section = null
      if (block.level <= 2 && opened === null) inPlaybook = block.level === 2
    }
  }

  close(): readonly string[] {
    const out: string[] = []
    for (const [at, { text, kept, heading }] of this.#written.entries()) {
      const before = out.at(-1)
      if (kept) out.push(text)
      else if (text === '') {
        if (before === undefined ? this.#hidesFront(at) : before !== '' && !isSectionHeading(before))
          out.push('')
      } else {
        if (heading !== null && before !== undefined && before !== '' && !endsComment(before)) out.push('')
        out.push(text)
      }
    }
    // Blank lines at the end are nobody's, unless they stand in what is kept.
    while (out.at(-1) === '' && !this.#written.at(-1)!.kept) out.pop()
    return out
  }

  /** At the very top, a blank line keeps a break from being read as front matter, and `#!` from being read as a program's name. */
  #hidesFront(at: number): boolean {
    return /^(?:---|#!)/.test(this.#lines[at + 1]?.text ?? '')
  }

  #heading(level: number, text: MarkdownText, section: Section): void {
    const { line } = text.pieces[0]!
    if (this.#commented.has(line.number)) return
    const canonical =
      section === null
        ? `${'#'.repeat(level)} ${text.text}`.trimEnd()
        : `### ${section[0]!.toUpperCase()}${section.slice(1)}`
    this.#set(line, canonical, section === null ? 'other' : 'section')
  }

  #block(block: Exclude<MarkdownBlock, { kind: 'heading' }>, section: Section, depth: number): void {
    const moves = section !== null && this.#level !== 'blanks'
    switch (block.kind) {
      case 'item':
        return this.#item(block, section, depth)
      case 'paragraph':
        for (const { line } of block.text.pieces) {
          if (moves) this.#indent(line, depth * 2)
          else this.#set(line, line.text.trimEnd(), null)
        }
        return
      case 'code':
        return this.#move(this.#span(block.fence, block.content, block.closed ? 1 : 0), depth * 2, moves)
      case 'template': {
        const first = block.text.pieces[0]!.line
        return this.#move(this.#span(first, block.text, 0), depth * 2, moves)
      }
      case 'break':
        return this.#set(block.line, block.line.text.trimEnd(), null)
    }
  }

  #item(item: MarkdownItem, section: Section, depth: number): void {
    const [first, ...more] = item.text.pieces
    const { line, column } = first!
    if (section === null || this.#level === 'blanks') this.#set(line, line.text.trimEnd(), null)
    else {
      const words = line.text.slice(column).trimEnd()
      const spelled = this.#level === 'all' && section === 'steps' ? canonicalKeyword(words) : words
      this.#set(line, `${'  '.repeat(depth)}- ${spelled}`.trimEnd(), null)
    }
    for (const piece of more) {
      if (section === null || this.#level === 'blanks') this.#set(piece.line, piece.line.text.trimEnd(), null)
      else this.#indent(piece.line, depth * 2 + 2)
    }
    for (const child of item.children) if (child.kind !== 'heading') this.#block(child, section, depth + 1)
  }

  /** A line of text at another indentation, unless it would become something else there. */
  #indent(line: MarkdownLine, width: number): void {
    const content = line.text.trim()
    const fragile = content.startsWith('#') || content.startsWith('!import')
    this.#set(line, fragile ? line.text.trimEnd() : ' '.repeat(width) + content, null)
  }

  /** The lines of a block that is kept as it is, all together further in or out. */
  #move(lines: readonly MarkdownLine[], width: number, moves: boolean): void {
    const [first] = lines
    const before = first!.text.slice(0, first!.text.length - first!.text.trimStart().length)
    for (const line of lines) {
      const written = this.#written[line.number - 1]!
      written.kept = true
      if (!moves || this.#commented.has(line.number)) continue
      if (line.text.startsWith(before)) written.text = ' '.repeat(width) + line.text.slice(before.length)
      else written.text = line.text.trimStart()
      if (line.text.trim() === '' && !line.text.startsWith(before)) written.text = line.text
    }
  }

  /** The lines from the first to the last of a text, and so many more. */
  #span(first: MarkdownLine, text: MarkdownText, more: number): readonly MarkdownLine[] {
    const last = (text.pieces.at(-1)?.line ?? first).number + more
    return this.#lines.slice(first.number - 1, last)
  }

  #set(line: MarkdownLine, text: string, heading: Written['heading']): void {
    const commented = this.#commented.has(line.number)
    const written = this.#written[line.number - 1]!
    written.kept = false
    written.heading = heading
    // Where a comment stands before the words, columns are the comment's.
    written.text = commented && !isTrailing(line.text) ? line.text : text
  }
}

function isSectionHeading(line: string): boolean {
  return /^### (?:Triggers|Steps|Notes)$/.test(line)
}

/** Whether a line is the end of a comment and nothing else, so that what follows is what it is about. */
function endsComment(line: string): boolean {
  return /^(?:<!--.*|(?:(?!<!--).)*)-->$/.test(line.trim())
}

/** Whether the only comment of a line begins after its words and ends on it. */
function isTrailing(text: string): boolean {
  const at = text.indexOf('<!--')
  return at > 0 && text.slice(0, at).trim() !== '' && /^<!--(?:(?!-->).)*-->\s*$/.test(text.slice(at))
}
