import type { Program } from '../program.ts'
import { type FormatLevel, formatMarkdown } from './format-markdown.ts'

/** The text in canonical writing, or null where none keeps the meaning. */
export type FormatResult = { readonly text: string } | { readonly text: null }

/**
 * Formats the text of a program as far as its meaning stays the same: `read` says what a text means, and what it says of the new
 * text must be what it said of the old one, but for places and the case of keywords.
 */
export function formatProgram(text: string, read: (text: string) => Program | null): FormatResult {
  const before = read(text)
  if (before === null) return { text: null }
  const meant = meaningOf(before)
  for (const level of ['all', 'bullets', 'blanks'] satisfies FormatLevel[]) {
    const formatted = formatMarkdown(text, level)
    if (formatted === text) return { text }
    const after = read(formatted)
    if (after !== null && meaningOf(after) === meant && formatMarkdown(formatted, level) === formatted)
      return { text: formatted }
  }
  return { text: null }
}

/** A program without the places of its parts; of the author's own words, what their case does not change. */
export function meaningOf(program: Program): string {
  return JSON.stringify(program, (key, value: unknown) => {
    if (key === 'line') return undefined
    const words = typeof value === 'string' && (key === 'text' || key === 'instruction')
    return words ? value.toLowerCase().replace(/\s+/g, ' ') : value
  })
}
