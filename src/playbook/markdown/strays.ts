import type { MarkdownBlock, MarkdownText } from '../../document/markdown-block.ts'
import { type Findings, quote } from './findings.ts'

/** One thing among steps that is none. One that swallows the rest of the text has a warning of its own already. */
export interface Stray {
  readonly text: MarkdownText
  readonly warned: boolean
}

/** What stands between bullets or below one and is no bullet: paragraphs, quotations, tables, code. */
export function straysIn(blocks: readonly MarkdownBlock[]): readonly Stray[] {
  if (onlyItems(blocks)) return noStrays
  const strays: Stray[] = []
  const waiting = blocks.toReversed()
  for (let block = waiting.pop(); block !== undefined; block = waiting.pop()) {
    if (block.kind === 'item') {
      for (let at = block.children.length - 1; at >= 0; at--) waiting.push(block.children[at]!)
    } else if (block.kind === 'code') {
      if (block.content.text.trim() !== '') strays.push({ text: block.content, warned: !block.closed })
    } else if (block.kind !== 'break') strays.push({ text: block.text, warned: false })
  }
  return strays
}

const noStrays: readonly Stray[] = []

/** A glance: most steps are bullets, all the way down. */
function onlyItems(blocks: readonly MarkdownBlock[]): boolean {
  for (const block of blocks) {
    if (block.kind !== 'item') return false
    if (block.children.length > 0 && !onlyItems(block.children)) return false
  }
  return true
}

/** Reports what would vanish among the steps: an error where the program changes anything, for it may be what keeps it from that. */
export function reportStrays(strays: readonly Stray[], changes: () => boolean, findings: Findings): void {
  if (strays.length === 0) return
  const severity = changes() ? 'error' : 'warn'
  for (const { text, warned } of strays) {
    if (warned && severity === 'warn') continue
    const message = `${quote(text.text)} stands among the steps and is not one, so nothing comes of it`
    const suggestion =
      'begin it with `- ` to make it a step, join it to the bullet above, or put it above `### Steps`'
    findings[severity]('irregular_form', { text }, message, suggestion)
  }
}
