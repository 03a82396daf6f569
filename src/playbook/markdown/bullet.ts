import type { MarkdownItem, MarkdownText } from '../../document/markdown-block.ts'
import { plainSigns } from './plain-signs.ts'

/** A bullet on its way to becoming a step: its text on one line, with the signs of the keyboard, of the same length as the source, so that offsets hold. */
export interface Bullet {
  readonly id: string
  readonly line: number
  readonly text: string
  /** The first word in small letters, which says which forms it can be; empty where it begins with a sign. */
  readonly word: string
  /** Where the text begins in the place; an inline step begins in the middle of its bullet. */
  readonly at: number
  readonly place: MarkdownText
  readonly children: MarkdownItem['children']
  /** The bullet that follows it in its list. */
  readonly next?: MarkdownItem | undefined
}

/** A longer bullet is prose whatever it begins with: no form of the language is that long. */
export const longestForm = 10_000

/** The bullet of an item. */
export function bulletOf(item: MarkdownItem, id: string, next?: MarkdownItem): Bullet {
  const raw = item.text.text
  const flat = raw.includes('\n') ? raw.replaceAll('\n', ' ') : raw
  const code = flat.startsWith('`') ? /^`([^`]+)`$/.exec(flat) : null
  const at = code === null ? 0 : 1
  const text = plainSigns((code?.[1] ?? flat).trimEnd())
  return {
    id,
    line: item.text.first.number,
    text,
    word: firstWord(text),
    at,
    place: item.text,
    children: item.children,
    next,
  }
}

/** A note or a trigger as a bullet: a line of its own that leads to no step. */
export function lineOf(place: MarkdownText, id: string): Bullet {
  const raw = place.text.trim()
  const text = plainSigns(raw.includes('\n') ? raw.replaceAll('\n', ' ') : raw)
  const line = place.first.number
  return { id, line, text, word: firstWord(text), at: 0, place, children: [] }
}

/** The first word of a text in small letters; empty where it begins with something else. */
export function firstWord(text: string): string {
  let end = 0
  while (end < text.length && isLetter(text.charCodeAt(end))) end++
  return text.slice(0, end).toLowerCase()
}

/** The last word of a text in small letters, without the sign that ends the sentence. */
export function lastWord(text: string): string {
  const end = /[.!]$/.test(text) ? text.length - 1 : text.length
  let start = end
  while (start > 0 && isLetter(text.charCodeAt(start - 1))) start--
  return text.slice(start, end).toLowerCase()
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code > 191
}

/** A part of a bullet as a bullet of its own. */
export function partOf(bullet: Bullet, from: number, id: string): Bullet {
  const rest = bullet.text.slice(from)
  const blank = rest.length - rest.trimStart().length
  const text = rest.trim()
  return { ...bullet, id, text, word: firstWord(text), at: bullet.at + from + blank, children: [] }
}
