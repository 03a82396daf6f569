/**
 * Markdown text → an outline of blocks with exact places.
 *
 * Owns: the block structure that playbooks use: headings with `#`, bullets and numbered items, fenced code, comments, breaks,
 * paragraphs, front matter. Inline Markdown is left as written.
 * Invariants:
 * 1. Linear: each line is looked at once, with a stack no deeper than the limit.
 * 2. Never throws. An unclosed fence, comment or tag is a problem with a place.
 * 3. It differs from CommonMark in four ways, each for the sake of people who write procedures: indentation never makes code; an
 *    item is a child when it stands two or more columns further in than its parent's marker; `---` below a paragraph is a
 *    break, not a heading; between `<tag>` and `</tag>` on lines of their own nothing is structure.
 */
import type { DiagnosticCode } from './diagnostic-code.ts'
import type { Severity } from './diagnostic.ts'
import { maxDocumentDepth } from './limits.ts'
import { GrowingText } from './growing-text.ts'
import type { MarkdownBlock, MarkdownCode, MarkdownItem } from './markdown-block.ts'
import { type MarkdownLine, splitLines } from './markdown-line.ts'
import { CommentMask } from './markdown-comment.ts'

/** A problem of the text itself. */
export interface MarkdownProblem {
  readonly code: DiagnosticCode
  readonly severity: Severity
  readonly message: string
  readonly line: MarkdownLine
  readonly suggestion: string | null
}

/** What a Markdown text holds. `front` are the lines of the front matter, without the fences. */
export interface MarkdownOutline {
  readonly blocks: readonly MarkdownBlock[]
  readonly front: readonly MarkdownLine[] | null
  readonly problems: readonly MarkdownProblem[]
}

/** Reads Markdown text, or lines that were put together from several texts, into blocks. */
export function parseMarkdown(source: string | readonly MarkdownLine[]): MarkdownOutline {
  const lines = typeof source === 'string' ? splitLines(source) : source
  return new OutlineReader(lines).read()
}

/** An item that may still get children. */
interface OpenItem extends MarkdownItem {
  readonly text: GrowingText
  children: MarkdownBlock[]
}

/** What most items have below them. */
const noChildren: MarkdownBlock[] = []

const number = /^(\d{1,9}[.)])(?:[ \t]+|$)/
const fence = /^(`{3,}|~{3,})[ \t]*([^`]*)$/
const openTag = /^<([A-Za-z][\w-]*)(?:\s[^<>]*)?>$/
const closeTag = /^<\/([A-Za-z][\w-]*)\s*>$/

class OutlineReader {
  readonly #lines: readonly MarkdownLine[]
  readonly #root: MarkdownBlock[] = []
  readonly #open: OpenItem[] = []
  readonly #problems: MarkdownProblem[] = []
  readonly #comments: CommentMask
  #closing: Map<string, { readonly lines: number[]; next: number }> | null = null
  #paragraph: GrowingText | null = null
  #afterBlank = false
  #tooDeep = false

  constructor(lines: readonly MarkdownLine[]) {
    this.#lines = lines
    this.#comments = new CommentMask()
  }

  read(): MarkdownOutline {
    let at = 0
    if (this.#lines[0]?.text.startsWith('#!') === true) at = 1
    const front = this.#frontMatter(at)
    if (front !== null) at += front.length + 2
    while (at < this.#lines.length && !this.#tooDeep) at = this.#line(at)
    if (this.#comments.openedAt !== null) {
      this.#problem(
        'unclosed_block',
        this.#comments.openedAt,
        'the comment is never closed',
        'end it with `-->`',
      )
    }
    this.#closeItems(0)
    return { blocks: this.#root, front, problems: this.#problems }
  }

  #frontMatter(from: number): MarkdownLine[] | null {
    if (this.#lines[from]?.text.trimEnd() !== '---') return null
    let keys = false
    for (let at = from + 1; at < this.#lines.length; at++) {
      const text = this.#lines[at]!.text.trimEnd()
      if (text === '---' || text === '...') return this.#lines.slice(from + 1, at)
      if (/^[A-Za-z_][\w-]*:(?:\s|$)/.test(text)) keys = true
      // A break at the top of a document is followed by Markdown, not by keys; below a key a list may stand.
      if (/^#{1,6} /.test(text) || (!keys && /^[-*] /.test(text))) break
    }
    if (keys) {
      const message = 'the front matter is never closed, so none of it counts'
      this.#problem('unclosed_block', this.#lines[from]!, message, 'end it with `---`')
    }
    return null
  }

  /** Reads the line, or the block that begins there; returns the number of the next one. */
  #line(at: number): number {
    const line = this.#lines[at]!
    const masked = this.#comments.mask(line)
    const text = masked.trimEnd()
    if (text === '') {
      // A line that held only a comment does not part what stands around it.
      if (line.text.trim() === '') this.#blank()
      return at + 1
    }
    const column = firstColumn(text)
    const indent = text.charCodeAt(0) > 32 ? 0 : widthOf(text, column)
    const first = text.charCodeAt(column)
    if (first === 35 && column <= 3 && this.#heading(line, masked, column)) return at + 1
    if ((first === 45 || first === 42 || first === 95) && isRule(text, column)) {
      this.#closeItems(0)
      this.#root.push({ kind: 'break', line })
      return at + 1
    }
    const width = this.#markerWidth(text, column, first)
    if (width > 0) {
      this.#item(line, text, column, indent, width)
      return at + 1
    }
    const content = column === 0 ? text : text.slice(column)
    if ((first === 96 || first === 126) && fence.test(content)) return this.#code(at, column, indent, content)
    const tag = first === 60 ? openTag.exec(content)?.[1] : undefined
    const end = tag === undefined ? null : this.#templateEnd(tag, at)
    if (tag !== undefined && end !== null) return this.#template(at, end, indent, tag)
    this.#text(line, column, indent, content)
    return at + 1
  }

  #heading(line: MarkdownLine, text: string, column: number): boolean {
    let level = 0
    while (text.charCodeAt(column + level) === 35) level++
    const rest = text.slice(column + level)
    if (level > 6 || (rest !== '' && rest[0] !== ' ' && rest[0] !== '\t')) return false
    this.#closeItems(0)
    const title = withoutClosing(rest.trim())
    const heading = new GrowingText(line)
    heading.addProse(line, column + level + (rest.length - rest.trimStart().length), title)
    this.#root.push({ kind: 'heading', level, text: heading })
    return true
  }

  /** How wide the sign of an item is, with the blanks behind it; 0 where none is opened. */
  #markerWidth(text: string, column: number, first: number): number {
    if (first >= 48 && first <= 57) {
      const found = number.exec(column === 0 ? text : text.slice(column))
      // In the middle of a paragraph a number is a number, unless it counts from one.
      return found === null || (this.#paragraph !== null && !/^1[.)]$/.test(found[1]!)) ? 0 : found[0].length
    }
    if (first !== 45 && first !== 42 && first !== 43) return 0
    let end = column + 1
    while (isBlank(text.charCodeAt(end))) end++
    return end === column + 1 && end < text.length ? 0 : end - column
  }

  #item(line: MarkdownLine, text: string, column: number, indent: number, width: number): void {
    this.#endParagraph()
    let depth = this.#open.length
    while (depth > 0 && this.#open[depth - 1]!.indent + 2 > indent) depth--
    this.#closeItems(depth)
    if (depth >= maxDocumentDepth) {
      this.#tooDeep = true
      const message = `items are nested deeper than ${maxDocumentDepth} levels`
      this.#problems.push({ code: 'too_deep', severity: 'error', message, line, suggestion: null })
      return
    }
    const item: OpenItem = { kind: 'item', indent, text: new GrowingText(line), children: noChildren }
    item.text.addProse(line, column + width, text.slice(column + width))
    this.#add(item)
    this.#open.push(item)
    this.#afterBlank = false
  }

  #text(line: MarkdownLine, column: number, indent: number, content: string): void {
    if (this.#paragraph !== null) return this.#paragraph.add(line, column, content)
    const item = this.#open.at(-1)
    if (item !== undefined) {
      // Straight below an item its text goes on; after a blank line only what is indented belongs to it.
      if (!this.#afterBlank && item.children.length === 0) return item.text.addProse(line, column, content)
      let depth = this.#open.length
      while (depth > 0 && this.#open[depth - 1]!.indent + 2 > indent) depth--
      this.#closeItems(depth)
    }
    this.#paragraph = new GrowingText(line)
    this.#paragraph.add(line, column, content)
    this.#afterBlank = false
  }

  #code(at: number, column: number, indent: number, content: string): number {
    const opening = this.#lines[at]!
    const [, sign = '', info = ''] = fence.exec(content)!
    const text = new GrowingText(opening)
    let end = at + 1
    let closed = false
    for (; end < this.#lines.length; end++) {
      const line = this.#lines[end]!
      const trimmed = line.text.trim()
      if (trimmed.length >= sign.length && trimmed[0] === sign[0] && isRun(trimmed)) {
        closed = true
        break
      }
      const cut = Math.min(column, line.text.length - line.text.trimStart().length)
      text.add(line, cut, line.text.slice(cut))
    }
    if (!closed)
      this.#problem(
        'unclosed_block',
        opening,
        'the code block is never closed',
        `end it with a line \`${sign}\``,
      )
    const block: MarkdownCode = {
      kind: 'code',
      language: info.trim().split(/\s/, 1)[0]!.toLowerCase(),
      content: text,
      fence: opening,
      closed,
    }
    this.#place(indent, block)
    return end + 1
  }

  /** The line that closes the tag, if there is one. */
  #templateEnd(tag: string, from: number): number | null {
    this.#closing ??= closingTags(this.#lines)
    const ends = this.#closing.get(tag)
    if (ends === undefined) return null
    while (ends.next < ends.lines.length && ends.lines[ends.next]! <= from) ends.next++
    return ends.lines[ends.next] ?? null
  }

  #template(at: number, end: number, indent: number, tag: string): number {
    const text = new GrowingText(this.#lines[at]!)
    for (const line of this.#lines.slice(at, end + 1)) {
      const column = line.text.length - line.text.trimStart().length
      const cut = Math.min(column, indent)
      text.add(line, cut, line.text.slice(cut).trimEnd())
    }
    this.#place(indent, { kind: 'template', tag, text })
    return end + 1
  }

  /** Puts a block below the item it is indented under. */
  #place(indent: number, block: MarkdownBlock): void {
    let depth = this.#open.length
    while (depth > 0 && this.#open[depth - 1]!.indent + 2 > indent) depth--
    this.#closeItems(depth)
    this.#add(block)
    this.#afterBlank = false
  }

  #blank(): void {
    this.#endParagraph()
    this.#afterBlank = true
  }

  #endParagraph(): void {
    if (this.#paragraph === null) return
    this.#add({ kind: 'paragraph', text: this.#paragraph })
    this.#paragraph = null
  }

  #add(block: MarkdownBlock): void {
    const item = this.#open.at(-1)
    if (item === undefined) this.#root.push(block)
    else if (item.children === noChildren) item.children = [block]
    else item.children.push(block)
  }

  #closeItems(depth: number): void {
    this.#endParagraph()
    // One by one: a list whose length is set to nothing gives its room away, and every item would take new room.
    while (this.#open.length > depth) this.#open.pop()
  }

  #problem(code: DiagnosticCode, line: MarkdownLine, message: string, suggestion: string): void {
    this.#problems.push({ code, severity: 'warning', message, line, suggestion })
  }
}

/** The column of the first sign that is no blank. */
function firstColumn(text: string): number {
  let column = 0
  while (isBlank(text.charCodeAt(column))) column++
  const code = text.charCodeAt(column)
  // Other blanks than spaces and tabs are rare.
  return code > 32 && code < 128 ? column : text.length - text.trimStart().length
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

/** Three or more of one sign, and blanks. */
function isRule(text: string, column: number): boolean {
  const sign = text.charCodeAt(column)
  let count = 0
  for (let at = column; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === sign) count++
    else if (!isBlank(code)) return false
  }
  return count >= 3
}

/** The width of the blanks before a column; a tab reaches the next multiple of four. */
function widthOf(text: string, column: number): number {
  let width = 0
  for (let at = 0; at < column; at++) width += text.charCodeAt(at) === 9 ? 4 - (width % 4) : 1
  return width
}

/** A heading may end with `#` signs that only close it. */
function withoutClosing(title: string): string {
  let end = title.length
  while (end > 0 && title.charCodeAt(end - 1) === 35) end--
  if (end === title.length || (end > 0 && title[end - 1] !== ' ' && title[end - 1] !== '\t')) return title
  return title.slice(0, end).trimEnd()
}

function isRun(text: string): boolean {
  for (let at = 1; at < text.length; at++) if (text[at] !== text[0]) return false
  return true
}

function closingTags(
  lines: readonly MarkdownLine[],
): Map<string, { readonly lines: number[]; next: number }> {
  const found = new Map<string, { readonly lines: number[]; next: number }>()
  for (const [at, line] of lines.entries()) {
    if (!line.text.includes('</')) continue
    const tag = closeTag.exec(line.text.trim())?.[1]
    if (tag === undefined) continue
    const list = found.get(tag)
    if (list === undefined) found.set(tag, { lines: [at], next: 0 })
    else list.lines.push(at)
  }
  return found
}
