import type { MarkdownItem, MarkdownText } from '../../document/markdown-block.ts'
import { glanceAt, holds } from './glance.ts'
import { openingOf } from './opening-word.ts'
import { plainSigns } from './plain-signs.ts'

/** A bullet on its way to becoming a step: its text on one line, with the signs of the keyboard, of the same length as the source, so that offsets hold. */
export interface Bullet {
  readonly id: string
  /** Whether it leads to a step: a note or a trigger does not. */
  readonly isStep: boolean
  readonly line: number
  readonly text: string
  /** The first word in small letters, which says which forms it can be; empty where it begins with a sign. */
  readonly word: string
  /** The families of forms that the word can open. */
  readonly opens: number
  /** What the text may hold. */
  readonly holds: number
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
  const place = item.text
  const raw = place.text
  const held = glanceAt(raw)
  const flat = (held & holds.lineFeed) === 0 ? raw : raw.replaceAll('\n', ' ')
  const code = (held & holds.backtick) === 0 ? null : /^`([^`]+)`$/.exec(flat)
  const text = plainText((code?.[1] ?? flat).trimEnd(), held)
  const { word, opens } = openingOf(text)
  const line = place.first.number
  return {
    id,
    isStep: id.length > 0,
    line,
    text,
    word,
    opens,
    holds: held,
    at: code === null ? 0 : 1,
    place,
    children: item.children,
    next,
  }
}

/** A note or a trigger as a bullet: a line of its own that leads to no step. */
export function lineOf(place: MarkdownText, id: string): Bullet {
  const raw = place.text.trim()
  const held = glanceAt(raw)
  const text = plainText((held & holds.lineFeed) === 0 ? raw : raw.replaceAll('\n', ' '), held)
  const { word, opens } = openingOf(text)
  const line = place.first.number
  const next = undefined
  return { id, isStep: false, line, text, word, opens, holds: held, at: 0, place, children: [], next }
}

function plainText(text: string, held: number): string {
  return (held & holds.apostrophe) === 0 ? text : plainSigns(text)
}

/** A bullet with other words, which say the same. */
export function reworded(bullet: Bullet, text: string): Bullet {
  const { word, opens } = openingOf(text)
  return { ...bullet, text, word, opens, holds: glanceAt(text) }
}

/** A part of a bullet as a bullet of its own. */
export function partOf(bullet: Bullet, from: number, id: string): Bullet {
  const rest = bullet.text.slice(from)
  const blank = rest.length - rest.trimStart().length
  return { ...reworded(bullet, rest.trim()), id, at: bullet.at + from + blank, children: [] }
}

/** The first word of a text in small letters; empty where it begins with something else. */
export function firstWord(text: string): string {
  return openingOf(text).word
}
